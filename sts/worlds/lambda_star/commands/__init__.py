"""The actions of `sts lambda-star`, a file each."""
