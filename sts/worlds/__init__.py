"""The worlds that come with the suite, a folder each; nothing above knows one."""
