# SPDX-License-Identifier: MIT
"""lava_run.py LAVA FOLDER [OPTION]: run hil/lava/qemu.yaml with LAVA's dispatcher, in /usr below the folder LAVA

FOLDER/files has what the job downloads, by HTTP from this process; everything else in FOLDER is written: the job with that
address, the device by the template of LAVA's server, the dispatcher's files and results. The dispatcher imports guestfs, which
this job does not use: where Python has none, an empty module is in its place.
"""

import functools
import http.server
import os
import runpy
import sys
import threading
import types

lava, folder = sys.argv[1:3]
sys.path += [f"{lava}/usr/lib/python3/dist-packages", "/usr/lib/python3/dist-packages"]

import jinja2
import yaml


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def serve(files):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=files))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def write(name, text):
    with open(os.path.join(folder, name), "w") as file:
        file.write(text)
    return file.name


def device_of(job):
    loader = jinja2.FileSystemLoader(f"{lava}/usr/share/lava-server/device-types")
    template = jinja2.Environment(loader=loader, trim_blocks=True).get_template(f"{job['device_type']}.jinja2")
    return template.render(job["context"])


def guestfs_or_none():
    try:
        import guestfs
    except ImportError:
        sys.modules["guestfs"] = types.ModuleType("guestfs")


with open("hil/lava/qemu.yaml") as file:
    text = file.read().replace("http://files.example.org/tenon", serve(f"{folder}/files"))
guestfs_or_none()
import lava_common.constants

lava_common.constants.DISPATCHER_DOWNLOAD_DIR = os.path.realpath(os.path.join(folder, "spool"))
command = f"{lava}/usr/bin/lava-run"
sys.argv = [command, *sys.argv[3:], "--job-id", "1", "--output-dir", os.path.join(folder, "results"),
            "--device", write("device.yaml", device_of(yaml.safe_load(text))),
            "--dispatcher", write("dispatcher.yaml", "dispatcher_ip: 127.0.0.1\n"), write("job.yaml", text)]
runpy.run_path(command, run_name="__main__")
