from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_GET, require_POST

from ui.preferences import CHOICES, COOKIE_PREFIX, COOKIE_SECONDS
from ui.samples import sample_context


@login_not_required
@require_POST
def preferences_change(request: HttpRequest) -> HttpResponse:
    """Keep what was chosen and go back to where it was chosen."""
    target = request.POST.get("next", "/")
    if not url_has_allowed_host_and_scheme(target, allowed_hosts={request.get_host()}):
        target = "/"
    response = HttpResponseRedirect(target)
    for name, choices in CHOICES.items():
        if (value := request.POST.get(name)) in choices:
            # Scripts read and set the same cookies, so that a click takes effect at once.
            response.set_cookie(
                f"{COOKIE_PREFIX}{name}",
                value,
                max_age=COOKIE_SECONDS,
                samesite="Lax",
                secure=request.is_secure(),
            )
    return response


@require_GET
def styleguide(request: HttpRequest) -> HttpResponse:
    """Every component with invented values, for those who build pages."""
    user = getattr(request, "user", None)
    if not (settings.DEBUG or getattr(user, "is_staff", False)):
        raise Http404
    context = sample_context(now=timezone.now(), query=request.GET, path=request.path)
    return render(request, "ui/styleguide.html", context)
