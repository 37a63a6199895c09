"""A cure for quiet text: Textual 8.2.8 draws `auto` colours inside `Content` as plain white.

`$text-muted` and `$text-disabled` are `auto 60%` and `auto 38%`: right in a stylesheet, but a
styled piece of `Content` comes out white, which is loud on a dark theme and invisible on a light
one. An app gives them the fixed colours that mean the same.
"""

from __future__ import annotations

_STAND_INS = {
    "text-muted": "foreground-muted",
    "text-disabled": "foreground-disabled",
    "text": "foreground",
}


def settled(variables: dict[str, str]) -> dict[str, str]:
    """Theme variables without the `auto` colours; what `App.get_css_variables` should return."""
    fixed = dict(variables)
    for name, stand_in in _STAND_INS.items():
        if fixed.get(name, "").startswith("auto") and stand_in in fixed:
            fixed[name] = fixed[stand_in]
    return fixed
