from django.urls import path

from ui import views

app_name = "ui"
urlpatterns = [
    path("preferences/", views.preferences_change, name="preferences"),
    path("styleguide/", views.styleguide, name="styleguide"),
]
