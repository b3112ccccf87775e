# SPDX-License-Identifier: MIT
"""Writes jinja_recorded.h: what Jinja makes of small templates: jinja_record.py >jinja_recorded.h

Needs jinja2 (Debian: python3-jinja2). The header in the tree is what jinja2 3.1.6 gives.
"""

import jinja2.ext
import jinja2.sandbox

MESSAGES = [{"role": "system", "content": " Be good. "}, {"role": "user", "content": "a-b-c"}, {"role": "assistant", "content": ""}]
EXPRESSIONS = """
1 + 2 * 3
7 - 2 - 1
-7 % 3
7 % 3
2 * -3
- - 2
'a' + 'b'
'a' ~ 1 ~ none ~ true
1 ~ 2 + 3 ~ 4
(1 + 2) * 3
1 < 2
2 <= 2
3 > 4
4 >= 4
1 < 2 < 3
1 < 3 < 2
1 == true
0 == false
1 == '1'
'a' == 'a'
'a' != 'b'
none == none
[1, 2] == [1, 2]
[1, 2] == [1, 3]
[1] == [1, 2]
[1, [2]] != [1, [2]]
[] == ''
messages == messages
messages[0] == messages[1]
'b' in 'abc'
'' in ''
'' in 'a'
'x' in ''
'x' not in 'abc'
1 in [1, 2]
3 in [1, 2]
3 not in [1, 2]
'role' in messages[0]
'x' in messages[0]
1 in messages[0]
'a' in nothing
not true
not not 1
not ''
not []
not none
not nothing
true and false
1 and 2
0 and x.y
0 or 'a'
'a' or x.y
false or none
1 if true
1 if false
1 if true else 2
1 if false else 2
1 if 0 else 2 if 1 else 3
x.y if false else 'fine'
'abc'[0]
'abc'[-1]
'abc'[5]
'abc'[-5]
'abc'[1:]
'abc'[:1]
'abc'[:-1]
'abc'[-2:]
'abc'[2:1]
'abc'[0:9]
'abc'[-9:2]
[1, 2, 3][1]
[1, 2, 3][-1]
[1, 2, 3][7]
[1, 2, 3][1:]|length
[1, 2, 3][::-1]|first
[1, 2, 3]|last
[1, 2, 3,]|length
messages[0]['role']
messages[0].role
messages[0]['x']
messages[0].x
messages['role']
nothing
nothing|length
nothing|default('d')
nothing|d('d')
nothing|default
''|default('d')
''|default('d', true)
0|default('d', false)
none|default('d')
none
true
False
True
None
messages|length
messages[0]|length
messages|count
'h\u00e9'|length
' a '|trim
'aB c'|upper
'aB c'|lower
'aB c'|capitalize
'ABC'|capitalize
'a'|safe
'a'|string
' a '.strip()
'xxaxx'.strip('x')
'xyaxy'.strip('yx')
' a '.lstrip()
' a '.rstrip()
'xax'.lstrip('x')
'xax'.rstrip('x')
'abc'.startswith('ab')
'abc'.startswith('b')
'abc'.endswith('bc')
'abc'.endswith('b')
'a-b-c'.split('-')|length
'a-b-c'.split('-')[1]
'a-b-c'.split('x')[0]
''.split('x')|length
'aB'.upper()
'aB'.lower()
messages[0].get('role')
messages[0].get('x')
messages[0].get('x', 'y')
messages[0].get('role', 'y')
nothing is defined
nothing is not defined
nothing is undefined
messages is defined
none is none
1 is none
'a' is string
1 is string
messages[0] is mapping
messages is mapping
true is boolean
1 is boolean
1 is integer
'1' is integer
true is true
false is true
1 is true
false is false
messages is iterable
'a' is iterable
messages[0] is iterable
1 is iterable
messages is sequence
3 is odd
4 is odd
4 is even
3 is not even
'\\n\\t\\r\\\\'|length
'it\\'s'
"say \\"so\\""
1 is odd and 2 is even
tools is none
add_generation_prompt
bos_token
raise_exception is defined
'x' if messages else 'y'
'x' if messages[0] else 'y'
'x' if namespace() else 'y'
""".strip().split("\n")
TEMPLATES = [
    "",
    "\n",
    "text\n",
    "text\n\n",
    "{ } {",
    "a{# comment #}b",
    "a {#- comment -#} b",
    "  {# comment #}\nb",
    "  {% if 1 %}\n  a\n  {% endif %}\n",
    "x {%- if 1 -%} a {%- endif -%} y",
    "x {%+ if 1 +%}\n a {% endif %} y",
    "{% if 0 %}a{% elif 1 %}b{% else %}c{% endif %}",
    "{% if 0 %}a{% elif 0 %}b{% else %}c{% endif %}",
    "{% if 1 %}a{% elif x.y %}b{% else %}c{% endif %}",
    "{% if 0 %}{% if 1 %}a{% else %}b{% endif %}{% for x in y %}{% endfor %}{% set z %}{% endset %}{% else %}c{% endif %}",
    "{% if 0 %}{% set z = 1 %}{% endif %}{{ z }}",
    "{% for m in messages %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}"
    "{{ loop.length }};{% endfor %}",
    "{% for m in messages %}{{ loop.previtem.role if loop.previtem is defined }}<{{ m.role }}>{{ loop.nextitem.role if not loop.last }};{% endfor %}",
    "{% for m in [] %}a{% else %}none{% endfor %}",
    "{% for m in [1] %}a{% else %}none{% endfor %}",
    "{% for m in nothing %}a{% else %}none{% endfor %}",
    "{% for a in [1, 2] %}{% for b in [3, 4] %}{{ a * b }},{% endfor %}{{ loop.index }};{% endfor %}",
    "{% for a in [1, 2, 3] %}{% if a == 2 %}{% continue %}{% endif %}{{ a }}{% endfor %}",
    "{% for a in [1, 2, 3] %}{% if a == 2 %}{% break %}{% endif %}{{ a }}{% endfor %}",
    "{% for a in [1, 2] %}{% for b in [] %}{% else %}{% break %}{% endfor %}{{ a }}{% endfor %}",
    "{% for a in [1, 2] %}{% set b = a %}{% endfor %}{{ b }}",
    "{% set a = 1 %}{% set a = a + 1 %}{{ a }}",
    "{% set a %}x{{ 1 }}y{% endset %}{{ a }}{{ a|length }}",
    "{% set n = namespace(a=1, b='x') %}{% for i in [1, 2] %}{% set n.a = n.a + i %}{% endfor %}{{ n.a }}{{ n.b }}",
    "{% generation %}a{% endgeneration %}",
]


class Generation(jinja2.ext.Extension):
    """The mark of what a model is trained on, as transformers has it."""

    tags = {"generation"}

    def parse(self, parser):
        """Keep the body."""
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def refuse(text):
    """The function of templates that refuse a conversation."""
    raise jinja2.TemplateError(text)


def quoted(text):
    """The text as C has it."""
    return '"' + "".join(c if " " <= c <= "~" and c not in '"\\?' else "".join(f"\\{b:03o}" for b in c.encode()) for c in text) + '"'


def main():
    """Print the header."""
    e = jinja2.sandbox.ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[jinja2.ext.loopcontrols, Generation])
    e.globals["raise_exception"] = refuse
    print("/* SPDX-License-Identifier: MIT */\n/* Written by jinja_record.py; a template, and the text that Jinja makes of it. */\n/* clang-format off */\n")
    print("static const struct recorded recorded[] = {")
    for program in [*("{{ " + x + " }}" for x in EXPRESSIONS), *TEMPLATES]:
        text = e.from_string(program).render(messages=MESSAGES, bos_token="<s>", eos_token="</s>", add_generation_prompt=True, tools=None)
        print(f"\t{{ {quoted(program)}, {quoted(text)} }},")
    print("};")


main()
