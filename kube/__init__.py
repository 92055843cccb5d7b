"""The one door to Kubernetes: connect, discover, list, watch, pool status requests.

Bodies are taken raw: of an object only the envelope and the metadata are decoded, spec and
status stay bytes. Knows nothing of Django, and never writes to a cluster except for the pool
status requests it is asked to make.
"""
