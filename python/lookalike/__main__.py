"""`python -m lookalike`: the command that the wheel installs beside the library."""

import os
import shutil
import sys
import sysconfig


def main() -> None:
    folders = os.pathsep.join([sysconfig.get_path("scripts"), os.path.dirname(sys.executable), os.environ.get("PATH", "")])
    command = shutil.which("lookalike", path=folders)
    if command is None:
        sys.exit("lookalike: the command is not installed; it comes with the released wheel, or by cargo install --path crates/cli --locked")
    os.execv(command, [command, *sys.argv[1:]])


if __name__ == "__main__":
    main()
