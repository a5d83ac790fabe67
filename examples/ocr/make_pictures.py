#!/usr/bin/env python3
"""Draws the pictures of this folder and NAME.txt, what is written on each, line by line.

    apt-get install python3-pil python3-numpy fonts-dejavu-core
    python3 make_pictures.py

Lines of text in the DejaVu fonts are set on a paper-like ground, turned by some degrees, lit from one side,
blurred and given the noise of a small camera. All random numbers come from a fixed seed.
"""
import os

import numpy
from PIL import Image, ImageDraw, ImageFilter, ImageFont

FONTS = '/usr/share/fonts/truetype/dejavu/'
FOLDER = os.path.dirname(os.path.abspath(__file__))

# (text, font, size, colour, centre, degrees counter-clockwise)
PICTURES = {
    'sign': {
        'size': (640, 420),
        'light': ((236, 226, 204), (168, 160, 150)),
        'lines': [
            ('HARBOUR CAFE', 'DejaVuSans-Bold.ttf', 54, (120, 30, 28), (320, 80), 0),
            ('Fresh bread from 7 am', 'DejaVuSerif.ttf', 34, (40, 40, 48), (320, 160), 0),
            ('Coffee   2.80', 'DejaVuSans.ttf', 36, (30, 60, 44), (190, 240), 0),
            ('Tea 1.95', 'DejaVuSans.ttf', 36, (30, 60, 44), (500, 240), 0),
            ('Closed on Mondays', 'DejaVuSans-Bold.ttf', 30, (40, 40, 48), (320, 340), 0),
        ],
    },
    'label': {
        'size': (600, 460),
        'light': ((196, 206, 214), (238, 236, 226)),
        'lines': [
            ('FRAGILE', 'DejaVuSans-Bold.ttf', 60, (150, 24, 20), (220, 110), 9),
            ('Parcel 4071-A', 'DejaVuSans.ttf', 36, (28, 30, 40), (330, 190), 9),
            ('Handle with care', 'DejaVuSerif.ttf', 38, (28, 30, 40), (310, 290), 180),
            ('Bristol  BS1  4QA', 'DejaVuSans.ttf', 34, (24, 44, 92), (300, 390), -6),
        ],
    },
}


def ground(size, light, random):
    """A gradient from the upper left to the lower right with large soft stains."""
    width, height = size
    y, x = numpy.mgrid[0:height, 0:width]
    t = ((x / width + y / height) / 2)[..., None]
    paper = numpy.array(light[0]) * (1 - t) + numpy.array(light[1]) * t
    stains = Image.fromarray(random.integers(0, 256, (9, 12), dtype=numpy.uint8))
    stains = numpy.asarray(stains.resize(size, Image.BICUBIC), dtype=numpy.float64)
    return paper + (stains[..., None] - 128) * 0.12


def draw(picture, text, font, size, colour, centre, degrees):
    font = ImageFont.truetype(FONTS + font, size)
    left, top, right, bottom = font.getbbox(text)
    mask = Image.new('L', (right - left + 8, bottom - top + 8))
    ImageDraw.Draw(mask).text((4 - left, 4 - top), text, fill=235, font=font)
    mask = mask.rotate(degrees, resample=Image.BICUBIC, expand=True)
    corner = (centre[0] - mask.width // 2, centre[1] - mask.height // 2)
    picture.paste(Image.new('RGB', mask.size, colour), corner, mask)


def main():
    for seed, (name, page) in enumerate(PICTURES.items()):
        random = numpy.random.default_rng(seed)
        paper = ground(page['size'], page['light'], random)
        picture = Image.fromarray(paper.clip(0, 255).astype(numpy.uint8))
        for line in page['lines']:
            draw(picture, *line)
        picture = picture.filter(ImageFilter.GaussianBlur(0.8))
        noisy = numpy.asarray(picture, dtype=numpy.float64) + random.normal(0, 5, (*picture.size[::-1], 3))
        Image.fromarray(noisy.clip(0, 255).astype(numpy.uint8)).save(
            os.path.join(FOLDER, name + '.jpg'), quality=88)
        with open(os.path.join(FOLDER, name + '.txt'), 'w', encoding='utf-8') as file:
            file.writelines(' '.join(line[0].split()) + '\n' for line in page['lines'])


main()
