from hypothesis import HealthCheck, settings

# A machine that is busy with something else is no failure of the core.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")
