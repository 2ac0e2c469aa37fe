"""The wheel also carries the chapters and the stored results, which lie beside the package, not in it."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

FILES = Path("nystrom_lib", "companion", "files")
CARRIED = {"notebooks": ("*.ipynb", "data/*"), "results": ("*.parquet",)}


class Build(build_py):
    """``nystrom_lib.companion.checkout`` finds them there."""

    def run(self) -> None:
        super().run()
        for folder, patterns in ({} if self.editable_mode else CARRIED).items():
            for path in (path for pattern in patterns for path in sorted(Path(folder).glob(pattern))):
                target = Path(self.build_lib) / FILES / path
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)


setup(cmdclass={"build_py": Build})
