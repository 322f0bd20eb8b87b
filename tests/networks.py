"""Architectures counted by hand: parameters and multiply-adds from the tables of their papers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Count:
    """Weights and biases of convolutions and dense layers, their multiply-adds, and normalised channels."""

    weights: int = 0
    macs: int = 0
    normalised: int = 0

    def conv(self, inside: int, outside: int, kernel: int, size: int, *, groups: int = 1, bias: bool = False) -> None:
        """A square convolution whose output is ``size`` wide."""
        taps = inside // groups * kernel * kernel
        self.weights += outside * (taps + bias)
        self.macs += outside * size * size * taps

    def dense(self, inside: int, outside: int) -> None:
        self.weights += outside * (inside + 1)
        self.macs += outside * inside


def resnet50() -> Count:
    """K. He et al., CVPR 2016, table 1; the stride of a stage is on its first 3 x 3 convolution."""
    count = Count()
    count.conv(3, 64, 7, 112)
    count.normalised += 64
    inside, size = 64, 56
    for stage, blocks in enumerate((3, 4, 6, 3)):
        width = 64 << stage
        for block in range(blocks):
            out = size // 2 if stage and not block else size
            count.conv(inside, width, 1, size)
            count.conv(width, width, 3, out)
            count.conv(width, 4 * width, 1, out)
            count.normalised += 6 * width
            if not block:
                count.conv(inside, 4 * width, 1, out)
                count.normalised += 4 * width
            inside, size = 4 * width, out
    count.dense(2048, 1000)
    return count


def densenet121() -> Count:
    """G. Huang et al., CVPR 2017, table 1: growth 32, bottlenecks of 128, compression by half."""
    count = Count()
    count.conv(3, 64, 7, 112)
    count.normalised += 64
    channels, size = 64, 56
    for stage, layers in enumerate((6, 12, 24, 16)):
        for _ in range(layers):
            count.normalised += channels + 128
            count.conv(channels, 128, 1, size)
            count.conv(128, 32, 3, size)
            channels += 32
        count.normalised += channels
        if stage < 3:
            count.conv(channels, channels // 2, 1, size)
            channels, size = channels // 2, size // 2
    count.dense(channels, 1000)
    return count


def squeezenet11() -> Count:
    """F. Iandola et al., arXiv:1602.07360, in its version 1.1."""
    count = Count()
    count.conv(3, 64, 3, 111, bias=True)
    inside = 64
    for squeeze, expand, size in (
        (16, 64, 55), (16, 64, 55), (32, 128, 27), (32, 128, 27),
        (48, 192, 13), (48, 192, 13), (64, 256, 13), (64, 256, 13),
    ):  # fmt: skip
        count.conv(inside, squeeze, 1, size, bias=True)
        count.conv(squeeze, expand, 1, size, bias=True)
        count.conv(squeeze, expand, 3, size, bias=True)
        inside = 2 * expand
    count.conv(inside, 1000, 1, 13, bias=True)
    return count


def vgg19() -> Count:
    """K. Simonyan and A. Zisserman, arXiv:1409.1556, column E."""
    count = Count()
    inside = 3
    for layers, width, size in ((2, 64, 224), (2, 128, 112), (4, 256, 56), (4, 512, 28), (4, 512, 14)):
        for _ in range(layers):
            count.conv(inside, width, 3, size, bias=True)
            inside = width
    count.dense(512 * 7 * 7, 4096)
    count.dense(4096, 4096)
    count.dense(4096, 1000)
    return count


def inception_v1(sizes: tuple[int, int, int, int]) -> Count:
    """C. Szegedy et al., CVPR 2015, table 1, for maps of the given widths after each stage of pooling."""
    count = Count()
    first, second, third, fourth = sizes
    count.conv(3, 64, 7, 112, bias=True)
    count.conv(64, 64, 1, first, bias=True)
    count.conv(64, 192, 3, first, bias=True)
    inside = 192
    for size, branches in (
        (second, (64, 96, 128, 16, 32, 32)), (second, (128, 128, 192, 32, 96, 64)),
        (third, (192, 96, 208, 16, 48, 64)), (third, (160, 112, 224, 24, 64, 64)), (third, (128, 128, 256, 24, 64, 64)),
        (third, (112, 144, 288, 32, 64, 64)), (third, (256, 160, 320, 32, 128, 128)),
        (fourth, (256, 160, 320, 32, 128, 128)), (fourth, (384, 192, 384, 48, 128, 128)),
    ):  # fmt: skip
        one, reduce3, three, reduce5, five, pool = branches
        count.conv(inside, one, 1, size, bias=True)
        count.conv(inside, reduce3, 1, size, bias=True)
        count.conv(reduce3, three, 3, size, bias=True)
        count.conv(inside, reduce5, 1, size, bias=True)
        count.conv(reduce5, five, 5, size, bias=True)
        count.conv(inside, pool, 1, size, bias=True)
        inside = one + three + five + pool
    count.dense(inside, 1000)
    return count


def shufflenet(groups: int = 4) -> Count:
    """X. Zhang et al., CVPR 2018, units without a bottleneck, of 136, 272 and 544 channels; the first has a bias."""
    count = Count()
    count.conv(3, 24, 3, 112, bias=True)
    count.normalised += 24
    inside, size = 24, 56
    for width, units in ((136, 4), (272, 8), (544, 4)):
        for unit in range(units):
            # The first unit of a stage halves the maps, and joins its result to its pooled input.
            made = width if unit else width - inside
            out = size if unit else size // 2
            count.conv(inside, made, 1, size, groups=groups)
            count.conv(made, made, 3, out, groups=made)
            count.conv(made, made, 1, out, groups=groups)
            count.normalised += 3 * made
            inside, size = width, out
    count.dense(544, 1000)
    return count


def transformer_macs(layers: int, hidden: int, tokens: int, *, extra: int) -> int:
    """Multiply-adds of blocks of attention and a fourfold feed-forward part, plus ``extra`` ones.

    A block has weights of 12 h^2 entries, each of which meets every token; attention compares tokens with each
    other and mixes them: 2 n^2 h.
    """
    return layers * (12 * hidden * hidden * tokens + 2 * tokens * tokens * hidden) + extra


def transformer_parameters(layers: int, hidden: int) -> int:
    """Weights and biases of blocks: four projections, two feed-forward layers, two normalisations."""
    h = hidden
    return layers * (4 * (h * h + h) + (4 * h * h + 4 * h) + (4 * h * h + h) + 2 * 2 * h)
