"""Makes files, links and folders from a JSON list: [path, kind, content], path and content as latin-1 of their bytes."""

import json
import os
import shutil
import sys

for path, kind, content in json.load(open(sys.argv[1])):
    path = path.encode("latin-1")
    content = content.encode("latin-1")
    folder = os.path.dirname(path)
    if os.path.lexists(path):
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)
    if folder:
        os.makedirs(folder, exist_ok=True)
    if kind == "link":
        os.symlink(content, path)
    elif kind == "folder":
        os.mkdir(path)
    elif kind != "gone":
        with open(path, "wb") as file:
            file.write(content)
        os.chmod(path, 0o755 if kind == "program" else 0o644)
