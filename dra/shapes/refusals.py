"""What went wrong, as RFC 9457 problem details."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType


class ParameterError(Struct, frozen=True, kw_only=True):
    """One parameter that cannot be used."""

    parameter: Annotated[str, Meta(description="Its name.", examples=["limit"])]
    message: Annotated[
        str,
        Meta(description="What to write instead.", examples=["Write a number from 1 to 1000."]),
    ]
    allowed: Annotated[
        Sequence[str] | UnsetType,
        Meta(
            description="All values that there are, where they are a closed set.",
            examples=[["available", "allocated"]],
        ),
    ] = UNSET


class ProblemDetails(Struct, frozen=True, kw_only=True):
    """What went wrong (RFC 9457)."""

    type: Annotated[
        str,
        Meta(
            description="Always about:blank.",
            examples=["about:blank"],
            extra_json_schema={"format": "uri-reference"},
        ),
    ]
    title: Annotated[str, Meta(description="The status in words.", examples=["Bad Request"])]
    status: Annotated[int, Meta(description="The HTTP status.", examples=[400], ge=400, le=599)]
    code: Annotated[
        str, Meta(description="Stable, for machines.", examples=["invalid_parameters"])
    ]
    detail: Annotated[
        str, Meta(description="What to do about it.", examples=["limit: Write a number."])
    ]
    instance: Annotated[str, Meta(description="The path asked for.", examples=["/api/v1/pools/"])]
    errors: Annotated[
        Sequence[ParameterError] | UnsetType,
        Meta(description="With code `invalid_parameters`: each parameter that cannot be used."),
    ] = UNSET
    allowed: Annotated[
        Sequence[str] | UnsetType,
        Meta(description="All parameters, when one was unknown.", examples=[["limit", "cursor"]]),
    ] = UNSET
    available: Annotated[
        Sequence[str] | UnsetType,
        Meta(
            description="With status 406: the media types that there are.",
            examples=[["application/json"]],
        ),
    ] = UNSET
