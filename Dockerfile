# One image for web, worker and upkeep; docker-compose.yml says which command each runs.
FROM python:3.11-slim-bookworm

ENV PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    STATIC_ROOT=/app/staticfiles \
    DRADASH_HOME=/var/lib/dradash \
    LOG_JSON=true \
    MALLOC_ARENA_MAX=2

WORKDIR /app

COPY requirements/run.txt requirements/run.txt
RUN pip install --require-hashes --only-binary=:all: --no-deps --requirement requirements/run.txt

COPY . .
RUN SECRET_KEY=used-for-this-step-only python manage.py collectstatic --no-input --verbosity 0

RUN useradd --system --uid 10001 --home-dir /var/lib/dradash --create-home dradash
USER 10001

EXPOSE 8000
CMD ["python", "-m", "gunicorn", "--bind", "0.0.0.0:8000"]
