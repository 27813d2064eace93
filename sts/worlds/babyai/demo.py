"""The demo of BabyAI: its packaged suite, from chance to the package's own bot."""

from __future__ import annotations

from sts.cli.demo import Demo

DEMO = Demo(
    suite="babyai@2",
    agents=(
        *("random", "babyai-blind", "babyai-seeker", "babyai-noisy-bot-60"),
        *("babyai-noisy-bot-30", "babyai-noisy-bot-10", "babyai-bot"),
    ),
    shown=("babyai-go-to-01", "babyai-seeker", "random"),
)
