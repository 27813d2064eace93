"""Demo of BabyAI: its packaged suite, with agents from chance to one that follows everything."""

from sts.plugin import Demo

DEMO = Demo(
    suite="babyai@3",
    agents=(
        *("random", "babyai-blind", "babyai-seeker", "babyai-noisy-bot-30"),
        *("babyai-bot", "babyai-reader-half", "babyai-reader"),
    ),
    example=("babyai-go-to-02", "babyai-seeker", "random"),
)
