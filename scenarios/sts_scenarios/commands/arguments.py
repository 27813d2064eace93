"""Arguments that several commands about suites and drafts share."""

from sts.cli.command import argument, option, repeatable

CANDIDATE = argument("ID")
CHECKED = repeatable("module:NAME", "your own category, whose checks are run; repeatable")
CURATOR = option("NAME", "curator who decides (default: your login)", flag="--user")
DRAFT_NAME = argument("NAME")
REMARK = option("TEXT", "reason in one line")
