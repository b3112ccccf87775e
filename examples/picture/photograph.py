#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draw a picture with signs on it, as a camera might see them: photograph.py FILE.png

One hangs askew, one upside down; light falls off to a side, the lens blurs and the sensor adds noise.
"""

import sys

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

# text, its height, where its middle is, degrees that it is turned, colours of the text and of the sign
SIGNS = (
    ("PLATFORM 9", 52, (200, 110), 0, (250, 250, 250), (20, 60, 120)),
    ("Mind the gap", 40, (470, 250), -3, (30, 30, 30), (240, 205, 60)),
    ("Tickets here", 40, (235, 370), 0, (245, 245, 245), (30, 110, 60)),
    ("Open 8:30 - 17:45", 30, (440, 480), 180, (40, 20, 20), (225, 220, 210)),
)
WIDTH, HEIGHT = 640, 560


def sign(text, height, colour, ground):
    font = ImageFont.load_default(height)
    left, top, right, bottom = font.getbbox(text)
    picture = Image.new("RGBA", (right - left + height, bottom - top + height), (*ground, 255))
    ImageDraw.Draw(picture).text((height // 2 - left, height // 2 - top), text, font=font, fill=colour)
    return picture


def photograph():
    across, down = np.meshgrid(np.linspace(0, 1, WIDTH), np.linspace(0, 1, HEIGHT))
    wall = 150 + 12 * np.sin(across * 60) * np.sin(down * 90)
    picture = Image.fromarray(np.stack([wall, wall * 0.97, wall * 0.9], -1).astype("uint8"))
    for text, height, middle, degrees, colour, ground in SIGNS:
        one = sign(text, height, colour, ground).rotate(degrees, Image.Resampling.BICUBIC, expand=True)
        picture.paste(one, (middle[0] - one.width // 2, middle[1] - one.height // 2), one)
    seen = np.asarray(picture.filter(ImageFilter.GaussianBlur(0.8)), "float32") * (1.1 - 0.5 * across)[..., np.newaxis]
    return Image.fromarray((seen + np.random.default_rng(1).normal(0, 5, seen.shape)).clip(0, 255).astype("uint8"))


if __name__ == "__main__":
    photograph().save(sys.argv[1])
