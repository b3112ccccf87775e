# SPDX-License-Identifier: MIT
"""
From a chat template in Jinja to the conv_template of mlc-chat-config.json, which "tenon chat" reads: a few conversations
are rendered, and cut where their messages are. What comes out is compared with the template again.
"""

import json
import os.path
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from ..errors import CompileError

PROGRAM = Path(__file__).with_name("render_template.py")
SYSTEM, FIRST, REPLY, SECOND = "system0text", "first0text", "reply0text", "second0text"
TIMEOUT = 30
# notes
NONE = "the model has no chat template; tenon chat --raw continues a text"
OTHER = "the chat template is of a kind that mlc-chat-config.json cannot state; tenon chat --raw continues a text"


def conversation(*texts, system=None):
    roles = ("user", "assistant")
    messages = [{"role": roles[i % 2], "content": text} for i, text in enumerate(texts)]
    return [{"role": "system", "content": system}, *messages] if system else messages


# the first two are cut, all are compared
CONVERSATIONS = (
    conversation(FIRST, REPLY, SECOND, system=SYSTEM),
    conversation(FIRST),
    conversation(FIRST, system=SYSTEM),
    conversation(FIRST, REPLY, SECOND),
    conversation(FIRST, REPLY, SECOND, "more", "and more"),
)


@dataclass
class Template:
    """What is between the messages of a conversation."""

    system: tuple  # before and behind the message of the system
    default: str  # of the system
    user: str  # before a message of the user
    behind_user: str
    assistant: str  # begins a reply, also at the end of a prompt
    begin_reply: str  # behind that, of replies that are told
    ask: str  # behind that, of the one that is asked for
    behind_reply: str
    user_after_system: bool

    def render(self, messages):
        first = messages[0]
        system = first["content"] if first["role"] == "system" else self.default
        text = self.system[0] + system + self.system[1] if system else ""
        for message in messages[1:] if first["role"] == "system" else messages:
            if message["role"] == "user":
                begin = self.user if self.user_after_system or text != self.system[0] + system + self.system[1] else ""
                text += begin + message["content"] + self.behind_user
            else:
                text += self.assistant + self.begin_reply + message["content"] + self.behind_reply
        return text + self.assistant + self.ask

    def conv_template(self):
        """For mlc-chat-config.json."""
        return {
            "name": "of the model",
            "system_template": self.system[0] + "{system_message}" + self.system[1],
            "system_message": self.default,
            "add_role_after_system_message": self.user_after_system,
            "roles": {"user": self.user, "assistant": self.assistant, "tool": self.user},
            "role_templates": {
                "user": "{user_message}",
                "assistant": self.begin_reply + "{assistant_message}",
                "tool": "{tool_message}",
            },
            "seps": [self.behind_user, self.behind_reply],
            "role_content_sep": "",
            "role_empty_sep": self.ask,
            "stop_str": [],
        }


def render(path, template, bos, eos):
    """The conversations as the template renders them, by a program with limits."""
    given = {"template": template, "bos": bos, "eos": eos, "conversations": CONVERSATIONS}
    try:
        done = subprocess.run(
            [sys.executable, str(PROGRAM)], input=json.dumps(given), capture_output=True, text=True, timeout=TIMEOUT
        )
    except subprocess.TimeoutExpired:
        raise CompileError(f"{path}: the chat template does not end") from None
    if "No module named 'jinja2'" in done.stderr:
        raise CompileError(f"{path}: its chat template needs jinja2. Install: pip install jinja2")
    if done.returncode:
        raise CompileError(f"{path}: the chat template takes more time or memory than it may")
    return json.loads(done.stdout)


def between(text, *marks):
    """What is before, between and behind the marks, in their order; None if they are not there once each."""
    parts = []
    for mark in marks:
        before, found, text = text.partition(mark)
        if not found or mark in text:
            return None
        parts.append(before)
    return [*parts, text]


def parts_at(text, end):
    """A text up to the last @end of a message and the line it is in, and the rest."""
    at = text.rfind(end) + len(end) if end and end in text else 0
    while at and text[at : at + 1] == "\n":
        at += 1
    return text[:at], text[at:]


def cut(whole, short, end_of_message):
    """A template of two rendered conversations; None if it is not of this kind."""
    long, alone = between(whole, SYSTEM, FIRST, REPLY, SECOND), between(short, FIRST)
    if not long or not alone:
        return None
    before_system, before_first, before_reply, before_second, end = long
    user, default = alone[0], ""
    if before_system and user.startswith(before_system) and user.endswith(before_first):
        default = user[len(before_system) : len(user) - len(before_first)]
        user = parts_at(os.path.commonprefix([before_first[::-1], before_second[::-1]])[::-1], end_of_message)[1]
    if not before_second.endswith(user) or end != alone[1]:
        return None
    after_system = before_first.endswith(user)
    behind_system = before_first[: len(before_first) - len(user)] if after_system else before_first
    shared = os.path.commonprefix([before_reply, end])
    behind_user, assistant = parts_at(shared, end_of_message)
    return Template(
        system=(before_system, behind_system),
        default=default,
        user=user,
        behind_user=behind_user,
        assistant=assistant,
        begin_reply=before_reply[len(shared) :],
        ask=end[len(shared) :],
        behind_reply=before_second[: len(before_second) - len(user)],
        user_after_system=after_system,
    )


def read(path, template, bos, eos):
    """
    The template of a model, and whether each prompt begins with the token @bos. None if it cannot be written as
    conv_template.
    """
    rendered = render(path, template, bos, eos)
    if not all(isinstance(text, str) for text in rendered):
        return None, False
    begins = bool(bos) and all(text.startswith(bos) and text.count(bos) == 1 for text in rendered)
    if begins:
        rendered = [text[len(bos) :] for text in rendered]
    found = cut(*rendered[:2], eos)
    if not found or [found.render(messages) for messages in CONVERSATIONS] != rendered:
        return None, False
    return found, begins
