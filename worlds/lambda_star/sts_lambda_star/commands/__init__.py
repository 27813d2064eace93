"""The command `sts lambda-star`, imported when it is used, and its actions, one module each."""

from sts.plugin import command

COMMAND = command.Deferred(
    "sts_lambda_star.command:COMMAND", "score agents in the Λ* intelligence test"
)
