"""Django's settings. Everything that a person may change is a variable; see docs/configuration.md."""

from pathlib import Path

from environs import FileAwareEnv, validate

from dradash import config, logs

env = FileAwareEnv(strip_whitespace=True)
BASE_DIR = Path(__file__).resolve().parent.parent

DRADASH = config.read_config()

DEBUG = env.bool("DEBUG", False)
SECRET_KEY = config.read_secret_key(DRADASH.home)
ALLOWED_HOSTS: list[str] = env.list("ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS: list[str] = env.list("CSRF_TRUSTED_ORIGINS", [])
TRUSTED_PROXY_COUNT = env.int("TRUSTED_PROXY_COUNT", 0)

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "django_htmx",
    "rest_framework",
    "drf_spectacular",
    "dradash",
    "ui",
    "clusters",
    "objects",
    "pools",
    "ingest",
    "dashboard",
    "api",
]

MIDDLEWARE = [
    "dradash.middleware.content_security_policy",
    "dradash.middleware.probe",
    "dradash.middleware.database_watch",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    # A list of 50 rows is 100 KB of HTML and 10 KB on the wire; the length of an answer is blurred against BREACH.
    "django.middleware.gzip.GZipMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "dradash.middleware.readable_parameters",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "dradash.urls"
WSGI_APPLICATION = "dradash.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "ui.context_processors.ui",
                "clusters.views.frame.frame",
            ],
        },
    },
    {
        # Rows of long lists, and the frame around all pages and lists.
        "NAME": "jinja2",
        "BACKEND": "django.template.backends.jinja2.Jinja2",
        "DIRS": [BASE_DIR / "templates" / "rows", BASE_DIR / "templates" / "frame"],
        "OPTIONS": {"environment": "ui.rows.environment"},
    },
]

# One way to the data for pages, workers and commands. Connections stay open between requests and are tried before use.
DATABASES = {
    "default": config.postgres_settings(
        config.database_url(DRADASH.home),
        connect_timeout_seconds=env.int("DATABASE_CONNECT_TIMEOUT_SECONDS", 5),
        statement_timeout_seconds=env.int("DATABASE_STATEMENT_TIMEOUT_SECONDS", 60),
        lock_timeout_seconds=env.int("DATABASE_LOCK_TIMEOUT_SECONDS", 10),
        pool_size=env.int("DATABASE_POOL_SIZE", 0),
    )
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = config.redis_url(DRADASH.home)
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "dradash",
        "OPTIONS": {"socket_connect_timeout": 2, "socket_timeout": 2},
    },
    # For what is cheap to make again and must not need Redis.
    "memory": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"},
}
SESSION_ENGINE = "django.contrib.sessions.backends.db"

CELERY_BROKER_URL = config.broker_url(REDIS_URL)
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {"global_keyprefix": "dradash:", "visibility_timeout": 3600}
CELERY_TASK_IGNORE_RESULT = True
# A task is acknowledged before it runs: a killed one is not repeated, because the clock starts it again anyway.
CELERY_TASK_ACKS_LATE = False
# Nothing waits behind another: a worker takes from all queues, or `--queues` names those that it is for.
CELERY_TASK_QUEUES = {name: {"exchange": name} for name in ("sync", "upkeep")}
CELERY_TASK_DEFAULT_QUEUE = "upkeep"
CELERY_TASK_ROUTES = {
    "ingest.start_syncs": {"queue": "sync"},
    "ingest.sync_cluster": {"queue": "sync"},
}
# Tasks wait for networks nearly all the time, so they are threads: one costs a hundredth of a process, and none before it is needed.
# Celery's time limits do not hold for threads: everything that waits has a limit of its own.
CELERY_WORKER_POOL = "threads"
CELERY_WORKER_CONCURRENCY = env.int("WORKER_CONCURRENCY", 256, validate=validate.Range(min=4))
# Of these, so many follow a cluster each; the others are kept for everything else.
WORKER_CLUSTERS = CELERY_WORKER_CONCURRENCY * 3 // 4
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False
CELERY_TIMEZONE = "UTC"
# `expires` keeps a queue from growing while no worker takes from it.
CELERY_BEAT_SCHEDULE = {
    name: {"task": name, "schedule": seconds, "options": {"expires": seconds}}
    for name, seconds in (
        ("ingest.start_syncs", 2),
        ("ingest.discover_clusters", 60),
        ("pools.request_pool_status", 30),
        ("objects.keep_storage", 600),
    )
}

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
    )
]
LOGIN_URL = "/accounts/login/"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "login"

# DRADASH_HTTPS says that people reach us over https, directly or through a proxy.
HTTPS = env.bool("DRADASH_HTTPS", False)
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_SSL_REDIRECT = HTTPS
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
SECURE_HSTS_PRELOAD = HTTPS
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = LANGUAGE_COOKIE_SECURE = HTTPS
CSRF_COOKIE_HTTPONLY = True
CSRF_FAILURE_VIEW = "dradash.errors.form_refused"
X_FRAME_OPTIONS = "DENY"

LANGUAGE_CODE = "en"
# Only those with a whole catalogue in locale/, which a test of the repository checks.
LANGUAGES = [("en", "English")]
LOCALE_PATHS = [BASE_DIR / "locale"]
TIME_ZONE = "UTC"
USE_TZ = True

STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = env.path("STATIC_ROOT", DRADASH.home / "static")
# For development and tests: pages use the files as they lie in the repository, without `collectstatic`.
STATIC_FROM_SOURCE = env.bool("STATIC_FROM_SOURCE", DEBUG)
WHITENOISE_USE_FINDERS = WHITENOISE_AUTOREFRESH = STATIC_FROM_SOURCE
_STATIC_STORAGE = (
    "django.contrib.staticfiles.storage.StaticFilesStorage"
    if STATIC_FROM_SOURCE
    else "whitenoise.storage.CompressedManifestStaticFilesStorage"
)
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": _STATIC_STORAGE},
}

# Sign-in, errors and media types are said by the views of `api` themselves.
REST_FRAMEWORK = {
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_VERSION": "v1",
    "ALLOWED_VERSIONS": ["v1"],
    "DEFAULT_THROTTLE_RATES": {"wrong_tokens": "20/min"},
}
SPECTACULAR_SETTINGS = {
    "OAS_VERSION": "3.1.0",
    "TITLE": "DRA-Dash",
    "DESCRIPTION": "Pools, devices and history of Kubernetes Dynamic Resource Allocation. Reads only.",
    "VERSION": "1.0.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SORT_OPERATION_PARAMETERS": False,
    "POSTPROCESSING_HOOKS": ["api.openapi.add_tags"],
}

LOGGING_CONFIG = None
logs.configure(
    level=env.str("LOG_LEVEL", "INFO", validate=validate.OneOf(logs.LEVELS)),
    as_json=env.bool("LOG_JSON", False),
)
