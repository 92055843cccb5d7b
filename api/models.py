from django.conf import settings
from django.db import models
from django.db.models import F, Q


class APIToken(models.Model):
    """A person's key for programs. The token itself is shown once and never stored."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens"
    )
    name = models.TextField(blank=True)
    # The first characters after `dradash_`: names the row in lists, and finds it at sign-in.
    prefix = models.CharField(max_length=8, db_index=True)
    # SHA-256 of the whole token: 256 random bits need no slow hash.
    digest = models.BinaryField(max_length=32, unique=True)
    created_at = models.DateTimeField()
    # None: until it is revoked.
    expires_at = models.DateTimeField(null=True)
    # Written at most once a minute.
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("id",)
        constraints = (
            models.CheckConstraint(
                name="api_token_expires_later",
                condition=Q(expires_at__isnull=True) | Q(expires_at__gt=F("created_at")),
            ),
        )

    def __str__(self) -> str:
        return f"token {self.prefix}… of {self.user_id}"
