"""Entry points of BabyAI by group: a name, and `module:Name` or a module."""

ENTRY_POINTS = {
    "sts.domains": {
        "babyai": "sts_babyai.environment:BabyAI",
    },
    "sts.categories": {
        "babyai": "sts_babyai.categories",
    },
    "sts.demos": {
        "babyai": "sts_babyai.demo:DEMO",
    },
    "sts.suites": {
        "babyai": "sts_babyai.suites",
    },
    "sts.classes": {
        "babyai": "sts_babyai.environment_class:make_class",
    },
    "sts.agents": {
        "babyai-bot": "sts_babyai.agents.bot:Bot",
        "babyai-noisy-bot-10": "sts_babyai.agents.bot:NoisyBot10",
        "babyai-noisy-bot-30": "sts_babyai.agents.bot:NoisyBot30",
        "babyai-noisy-bot-60": "sts_babyai.agents.bot:NoisyBot60",
        "babyai-seeker": "sts_babyai.agents.seeker:Seeker",
        "babyai-blind": "sts_babyai.agents.blind:Blind",
        "babyai-reader": "sts_babyai.agents.reader:Reader",
        "babyai-reader-half": "sts_babyai.agents.reader:ColourBlindReader",
        "babyai-reader-near": "sts_babyai.agents.reader:NearReader",
        "babyai-reader-noisy-30": "sts_babyai.agents.reader:NoisyReader30",
        "babyai-reader-noisy-60": "sts_babyai.agents.reader:NoisyReader60",
        "babyai-reader-without-memory": "sts_babyai.agents.reader:ReaderWithoutMemory",
    },
}
