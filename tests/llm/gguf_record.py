# SPDX-License-Identifier: MIT
"""Writes gguf_recorded.h: tokens of a small vocabulary by llama.cpp, chat templates by Jinja and tenon-compile:
gguf_record.py >gguf_recorded.h

With a file in GGUF: writes lines of a text, with escapes for printf's %b, a tab, and its tokens by llama.cpp:
gguf_record.py SmolLM2-135M-Instruct.Q4_1.gguf >data/smollm2-tokens

Needs packages of PyPI: xllamacpp, which is llama.cpp, jinja2, and numpy, which tenon-compile imports.

	python3 -m venv /tmp/record && /tmp/record/bin/pip install xllamacpp jinja2 numpy
	/tmp/record/bin/python tests/llm/gguf_record.py >tests/llm/gguf_recorded.h

The header in the tree is what xllamacpp 2026.10.11549 and jinja2 3.1.6 give.
"""

import json
import os
import struct
import sys
import tempfile
import urllib.request
from pathlib import Path

import jinja2.sandbox
import xllamacpp

SOURCE = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(SOURCE / "tests/compile"), str(SOURCE / "compile")]
import small_gguf  # noqa: E402
from tenon_compile.llm import chat_template  # noqa: E402

MERGES = ["a b", "ab c", "Ġ a", "Ġ Ġ", "Ċ Ċ", "1 2", "12 3", "' s", "! !", "Ġ 1", "Ã ©", "Ġ !", ". Ċ", "Ċ Ġ", "s t", "' S"]
# "bab" is a token that no merges make; the last three are not divided
TOKENS = [*small_gguf.byte_tokens(), *(merge.replace(" ", "") for merge in MERGES), "bab", "<|a|>", "<|z|>", "[plain]"]
KINDS = [1] * (len(TOKENS) - 3) + [3, 3, 4]
PRE_TOKENIZERS = ["gpt-2", "smollm", "starcoder", "llama-bpe", "qwen2"]
TEXTS = [
    "abc ab a", "  a   a", "12345 123 12 1", " 1 12 x12", "it's IT'S 'st", "!! a!! !!", "a\n\n\n a\n a.\n\n", "é caf\u00e9", "bab bab",
    "<|a|>abc<|z|>\n", "a [plain] b", "\t\r\n x \n", "こ\u3000ん 👍", "a\u00a0b ½²", "",
]

BOS, EOS = "<|a|>", "<|z|>"
CHATML = "{% for m in messages %}{{ '<|a|>' + m['role'] + '\n' + m['content'] + '<|z|>\n' }}{% endfor %}"
ASK = "{% if add_generation_prompt %}{{ '<|a|>assistant\n' }}{% endif %}"
TEMPLATES = {
    "plain": CHATML + ASK,
    "default system": "{% for m in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|a|>system\nBe good.<|z|>\n' }}"
                      "{% endif %}{{'<|a|>' + m.role + '\n' + m.content + '<|z|>' + '\n'}}{% endfor %}" + ASK,
    "headers": "{% set loop_messages = messages %}{% for message in loop_messages %}{% set content = '<h>' + message['role'] + '</h>\n\n'"
               "+ message['content'] | trim + '<|z|>' %}{% if loop.index0 == 0 %}{% set content = bos_token + content %}{% endif %}"
               "{{ content }}{% endfor %}{{ '<h>assistant</h>\n\n' }}",
    "alternating": "{{ bos_token }}{% if messages[0]['role'] == 'system' %}{% set system = messages[0]['content'] %}{% set rest = messages[1:] %}"
                   "{% else %}{% set rest = messages %}{% endif %}\n{% for message in rest %}"
                   "{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('roles alternate') }}{% endif %}\n"
                   "    {%- if message['role'] == 'user' %}\n        {{- '[INST] ' + (system + '\n\n' if loop.first and system is defined else '')"
                   " + message['content'].strip() + ' [/INST]' }}\n    {%- elif message['role'] == 'assistant' -%}\n"
                   "        {{- ' ' ~ message['content'] ~ eos_token -}}\n    {%- endif -%}\n{% endfor %}\n",
    "namespace": "{%- set ns = namespace(found=false, last=messages|length - 1) -%}\n{%- for message in messages[::-1] %}\n"
                 "    {%- set index = (messages|length - 1) - loop.index0 %}\n    {%- if not ns.found and message.role == \"user\" %}\n"
                 "        {%- set ns.found = true %}\n        {%- set ns.last = index %}\n    {%- endif %}\n{%- endfor %}\n"
                 "{%- if tools %}{{ messages | tojson }}{%- endif %}\n{%- for message in messages %}\n"
                 "    {%- if message.content is string and message.tool_calls is not defined %}\n"
                 "        {{- '<|a|>' + message.role + '\\n' + message.content + '<|z|>' + '\\n' }}\n    {%- endif %}\n{%- endfor %}\n"
                 "{%- if add_generation_prompt %}\n    {{- '<|a|>assistant\\n' }}\n"
                 "    {%- if enable_thinking is defined and enable_thinking is false %}\n        {{- '<think>\\n\\n</think>\\n\\n' }}\n"
                 "    {%- endif %}\n{%- endif %}\n",
    "lines": "{# a comment #}\n{% for message in messages %}\n  {% if message['role'] in ['user', 'system'] and not loop.previtem is none %}\n"
             "<u>{{ message['content'] }}</u>\n  {% else %}\n<r>{{ message['content'] }}</r>\n  {% endif %}\n{% endfor %}\n<r>\n",
    "roles": "{% for m in messages %}{% if m['role'] == 'assistant' %}{% set role = 'model' %}{% else %}{% set role = m['role'] %}{% endif %}"
             "{{ '<t>' + role | upper + '\n' + (m['content'] | trim) + '</t>\n' }}{% endfor %}{% if add_generation_prompt %}{{'<t>MODEL\n'}}{% endif %}",
    "block": "{% for m in messages %}{% set text %}<{{ m.role }}>{{ m.content }}{% endset %}{% if m.role == 'tool' %}{% continue %}{% endif %}"
             "{{ text }}{% if loop.last %}{% break %}{% endif %}|{% endfor %}<assistant>",
    "numbers": "{% for m in messages %}{{ loop.index }}/{{ loop.length }}:{{ m.content.split('0')[-1] }}{% endfor %}",
    "methods": "{% for m in messages %}{{ m.role.upper() }}{{ m.content.startswith('s') }}{{ m.get('name', 'none') }}"
               "{{ 'role' in m and 'x' not in m.content }}{{ -loop.index * 2 + 7 }};{% else %}empty{% endfor %}",
    "macro": "{% macro say(m) %}{{ m.content }}{% endmacro %}{% for m in messages %}{{ say(m) }}{% endfor %}",
}


def quoted(text):
    out = ""
    for byte in text.encode():
        out += chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}"
    return f'"{out}"'


def strings(name, values):
    print(f"static const char *const {name}[] = {{")
    for value in values:
        print(f"\t{quoted(value)},")
    print("};")


class Llama:
    """llama.cpp's server with a file."""

    def __init__(self, path):
        given = xllamacpp.CommonParams()
        given.model.path, given.n_ctx, given.warmup = str(path), 64, False
        self.server = xllamacpp.Server(given)

    def tokens(self, text):
        given = json.dumps({"content": text, "add_special": False, "parse_special": True}).encode()
        request = urllib.request.Request(
            f"{self.server.listening_address}/tokenize", given, {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=30) as reply:
            return json.load(reply)["tokens"]


def value(data, usual=small_gguf.value):
    """As small_gguf does, but with the kinds of tokens as int32, which llama.cpp wants."""
    if data is KINDS:
        return small_gguf.ARRAY, struct.pack("<IQ", 5, len(data)) + b"".join(struct.pack("<i", kind) for kind in data)
    return usual(data)


small_gguf.value = value


def small_file(pre):
    small_gguf.VOCABULARY = len(TOKENS)
    model = small_gguf.Small("llama", small_gguf.F32, small_gguf.F32)
    return small_gguf.gguf({
        **model.metadata(), "tokenizer.ggml.pre": pre, "tokenizer.ggml.tokens": TOKENS, "tokenizer.ggml.token_type": KINDS,
        "tokenizer.ggml.merges": MERGES, "tokenizer.ggml.eos_token_id": TOKENS.index(EOS),
    }, model.tensors)


def record_tokens(folder):
    print("static const struct recorded recorded[] = {")
    for pre in PRE_TOKENIZERS:
        path = folder / f"{pre}.gguf"
        path.write_bytes(small_file(pre))
        llama = Llama(path)
        for text in TEXTS:
            print(f'\t{{ "{pre}", {quoted(text)}, "{" ".join(map(str, llama.tokens(text)))}" }},')
    print("};")


def rendered(template, messages):
    environment = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
    )

    def refuse(text):
        raise ValueError(text)

    environment.globals["raise_exception"] = refuse
    return environment.from_string(template).render(
        messages=messages, add_generation_prompt=True, bos_token=BOS, eos_token=EOS, tools=None
    )


def record_templates():
    conversation = [dict(role=role, content=text) for role, text in
                    (("user", "first0text"), ("assistant", "reply0text"), ("user", "second0text"))]
    print("/* a template, what Jinja makes of it, and its conv_template by tenon-compile */")
    print("static const struct template templates[] = {")
    for name, template in TEMPLATES.items():
        found, begins = chat_template.read("file", template, BOS, EOS)
        shape = None
        if found and name != "macro":
            shape = {key: value for key, value in found.conv_template().items() if key not in ("name", "stop_str")}
            if begins:
                shape["system_prefix_token_ids"] = [TOKENS.index(BOS)]
        text = None if name == "macro" else rendered(template, conversation)
        print(f"\t{{ {quoted(name)}, {quoted(template)},\n\t  {quoted(text) if text is not None else 'NULL'},")
        print(f"\t  {quoted(json.dumps(shape)) if shape else 'NULL'} }},")
    print("};")


REAL_TEXTS = [
    *TEXTS[:-1],
    "Hello, world! How are you today?", "The quick brown fox jumps over the lazy dog.", "don't DON'T I'm we've they'll",
    "<|im_start|>user\nWhat is the capital of France?<|im_end|>\n<|im_start|>assistant\n", "<|im_start|>system",
    "int main(void)\n{\n\treturn 0;\n}\n", "def f(x):\n    return x ** 2  # square\n", "3.14159 1,000,000 0x1F 2024-11-28",
    "Größe straße naïve œuvre", "Привет, мир", "你好世界 こんにちは 한국어", "ελληνικά العربية עברית", "👩‍👩‍👧 👍🏽 🇩🇪",
    "   leading and trailing   ", "\n\n\n", "\t\t", " " * 40, "x" * 200, "!!!???...---", "a_b-c.d/e\\f@g#h$i%j^k&l*m",
    "http://example.org/?q=1&r=%20#top", "{\"key\": [1, 2, {\"a\": null}]}", "e\u0301 \u00e9 \ufb01 \u2460 \u00bd",
    "\u200b\u200d\ufeff", "CamelCaseWords and snake_case_words", "<repo_name>x<file_sep>", "1234567890" * 5,
]


def record_real(path):
    """Texts with escapes that printf knows, and their tokens."""
    llama = Llama(path)
    for text in REAL_TEXTS:
        escaped = "".join(chr(byte) if 32 <= byte < 127 and byte != 92 else f"\\0{byte:03o}" for byte in text.encode())
        print(f"{escaped}\t{' '.join(map(str, llama.tokens(text)))}")


def main():
    if sys.argv[1:]:
        record_real(sys.argv[1])
        sys.stdout.flush()
        os._exit(0)
    print("/* SPDX-License-Identifier: MIT */\n"
          "/* What llama.cpp and Jinja make of small vocabularies and chat templates, to compare with; gguf_record.py writes it. */\n"
          "/* clang-format off */")
    strings("tokens", TOKENS)
    strings("merges", MERGES)
    with tempfile.TemporaryDirectory() as folder:
        record_tokens(Path(folder))
    record_templates()
    sys.stdout.flush()
    os._exit(0)  # the servers' threads


main()
