"""Which recipes are there, and what are all the choices of one?"""

from __future__ import annotations

from dragoman.cli.options import File, Settings, refuse_given


def recipes(name: File | None = None, /, *, set_: Settings | None = None) -> None:
    """List the ready recipes, or print one as a commented TOML to edit.

    Parameters
    ----------
    name:
        A recipe of the list, or a path ending in .toml. `dragoman recipes NAME > my.toml`, then
        `dragoman train my.toml ...`.
    set_:
        A field, as name=value, put in before printing; may be repeated.
    """
    from dragoman.system.catalogue import PRESETS, TOOLS, recipe_named
    from dragoman.system.settings import differences, recipe_from, to_toml, tool_from

    if name is not None:
        recipe = tool_from(name, None, set_ or ()) if name in TOOLS else recipe_from(name, set_ or ())
        print(to_toml(recipe), end="")
        return
    refuse_given("the list of recipes is as it is; name one of them", {"--set": set_})
    width = max(map(len, [*PRESETS, *TOOLS]))
    for preset, row in PRESETS.items():
        recipe = recipe_named(preset)
        changed = differences(type(recipe)(), recipe)
        print(f"{preset:<{width}}  {row.about}")
        if changed:
            print(f"{'':<{width}}  {', '.join(f'{field.name} {field.new}' for field in changed)}")
    print()
    for name, row in TOOLS.items():
        print(f"{name:<{width}}  {row.about}")
