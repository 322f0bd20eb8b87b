"""The guided modes of the page: three lessons whose every setting and every answer is a simulated run.

>>> [lesson["id"] for lesson in lessons()]
['loop', 'strategies', 'critical_path']
"""

from __future__ import annotations

from typing import Any

from simsched.page.lessons.critical_path import critical_path_lesson
from simsched.page.lessons.loop import loop
from simsched.page.lessons.pool import lesson_part
from simsched.page.lessons.strategies import strategies

MODES = (loop, strategies, critical_path_lesson)


def lessons(*, live: bool = False) -> list[dict[str, Any]]:
    """Return the guided modes as plain data, each as ``Lesson`` of ``web/types.d.ts``.

    Parameters
    ----------
    live : bool
        Whether the page can run settings again: then they come with their graphs and hardware.
    """
    return [lesson_part(mode(), live=live) for mode in MODES]
