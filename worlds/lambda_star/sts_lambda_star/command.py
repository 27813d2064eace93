"""`sts lambda-star`: the intelligence test, its property checks, and filmstrips of its episodes."""

from sts.plugin import command
from sts_lambda_star.commands.check import check
from sts_lambda_star.commands.filmstrip import filmstrip
from sts_lambda_star.commands.score import score

COMMAND = command.group(
    "lambda-star score --agent random --agent local-search --agent oracle", score, filmstrip, check
)
