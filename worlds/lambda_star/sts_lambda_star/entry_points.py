"""Entry points of Λ* by group: a name, and `module:Name` or a module."""

ENTRY_POINTS = {
    "sts.commands": {
        "lambda-star": "sts_lambda_star.commands:COMMAND",
    },
    "sts.domains": {
        "lambda-star": "sts_lambda_star.domain:LambdaStar",
    },
    "sts.flags": {
        "lambda-star": "sts_lambda_star.flags:FLAGS",
    },
    "sts.categories": {
        "lambda-star": "sts_lambda_star.categories",
    },
    "sts.demos": {
        "lambda-star": "sts_lambda_star.demo:DEMO",
    },
    "sts.importers": {
        "lambdastar-2016": "sts_lambda_star.published.importer:read",
    },
    "sts.suites": {
        "core": "sts_lambda_star.suites",
    },
    "sts.classes": {
        "lambda-star": "sts_lambda_star.intelligence.environment_class:LambdaStarClass",
    },
    "sts.metrics": {
        "lambda-star": "sts_lambda_star.intelligence.metric:measure",
        "coverage": "sts_lambda_star.intelligence.episode_measures:measure_coverage",
        "landscape": "sts_lambda_star.intelligence.episode_measures:measure_landscape",
    },
    "sts.agents": {
        "local-search": "sts_lambda_star.agents.local_search:LocalSearch",
        "blind": "sts_lambda_star.agents.blind:Blind",
        "rule": "sts_lambda_star.agents.rule:Rule",
        "stigmergy": "sts_lambda_star.agents.stigmergy:Stigmergy",
        "oracle": "sts_lambda_star.agents.oracle:Oracle",
        "wisdom-of-the-crowd": "sts_lambda_star.agents.wisdom_of_the_crowd:WisdomOfTheCrowd",
        "bidding": "sts_lambda_star.agents.bidding:Bidding",
        "dictatorship": "sts_lambda_star.agents.dictatorship:Dictatorship",
        "binary-tree": "sts_lambda_star.agents.binary_tree:BinaryTree",
        "imitation": "sts_lambda_star.agents.imitation:Imitation",
        "q-learning": "sts_lambda_star.agents.q_learning:QLearning",
        "cooperative-q-learning": "sts_lambda_star.agents.q_learning:CooperativeQLearning",
        "sarsa": "sts_lambda_star.agents.sarsa:Sarsa",
        "cooperative-sarsa": "sts_lambda_star.agents.sarsa:CooperativeSarsa",
        "reader": "sts_lambda_star.agents.readers.reader:Reader",
        "reader-without-memory": "sts_lambda_star.agents.readers.reader:ReaderWithoutMemory",
        "reader-near": "sts_lambda_star.agents.readers.reader:NearReader",
        "reader-half": "sts_lambda_star.agents.readers.reader:HalfReader",
        "reader-without-evil": "sts_lambda_star.agents.readers.reader:ReaderWithoutEvil",
        "reader-without-counting": "sts_lambda_star.agents.readers.reader:ReaderWithoutCounting",
        "reader-without-answers": "sts_lambda_star.agents.readers.reader:ReaderWithoutAnswers",
        "reader-without-not": "sts_lambda_star.agents.readers.reader:ReaderWithoutNot",
        "reader-noisy-30": "sts_lambda_star.agents.readers.reader:NoisyReader30",
        "reader-noisy-60": "sts_lambda_star.agents.readers.reader:NoisyReader60",
        "fugitive": "sts_lambda_star.agents.fugitive:Fugitive",
        "speaking-maximiser": "sts_lambda_star.agents.readers.maximiser:SpeakingMaximiser",
    },
}
