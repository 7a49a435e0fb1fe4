"""Flag files for zonelb, written as calls."""


def _text(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(_text, value)) + "]"
    text = str(value)
    return f'"{text}"' if "," in text and text[0] not in '"[' else text


class Flags:
    """Lines in order. `flags.backend(name="a1", zone="zone-a")` adds `backend = name=a1,zone=zone-a`;
    `flags.workers(2)` adds `workers = 2`. An underscore stands for a dash; a key whose value is None is left out."""

    def __init__(self, lines=()):
        self.lines = list(lines)

    def __getattr__(self, name):
        def add(value=None, **keys):
            if value is None:
                value = ",".join(f"{key.replace('_', '-')}={_text(item)}" for key, item in keys.items()
                                 if item is not None)
            self.lines.append(f"{name.replace('_', '-')} = {value if isinstance(value, str) else _text(value)}")
            return self
        return add

    def __add__(self, other):
        return Flags(self.lines + other.lines)

    def __str__(self):
        return "\n".join(self.lines) + "\n"

    def write(self, path):
        with open(path, "w") as file:
            file.write(str(self))
        return path
