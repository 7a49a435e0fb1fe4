"""What a backend runs: nginx with its own name on the page, and a health page on another port that flips by itself."""

import os

from .process import Process
from .waiting import wait_for

HTTP_PORT = 80
HEALTH_PORT = 8080
DOWNLOAD = "/download"
DOWNLOAD_BYTES = 1 << 30

_CONFIG = """
daemon off;
pid {folder}/nginx.pid;
worker_processes 1;
error_log {folder}/error.log;
events {{ worker_connections 8192; }}
http {{
  access_log off;
  default_type text/plain;
  keepalive_requests 1000000;
  keepalive_timeout 600s;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  server {{
    listen {http} backlog=4096; listen [::]:{http} backlog=4096;
    location / {{ return 200 "{name}\\n"; }}
    location = {download} {{ alias {folder}/download; }}
  }}
  server {{
    listen {health}; listen [::]:{health};
    location = /healthz {{ if (!-e {folder}/healthy) {{ return 503; }} return 200 "ok\\n"; }}
  }}
}}
"""


class Nginx:
    """Serves at every address of the namespace. healthy() and unhealthy() flip only what a probe sees."""

    def __init__(self, namespace, name, folder):
        self.namespace = namespace
        self.name = name
        self.folder = f"{folder}/nginx-{name}"
        os.makedirs(self.folder)
        os.chmod(self.folder, 0o755)  # nginx's worker is another user
        with open(f"{self.folder}/nginx.conf", "w") as file:
            file.write(_CONFIG.format(folder=self.folder, name=name, http=HTTP_PORT, health=HEALTH_PORT,
                                      download=DOWNLOAD))
        with open(f"{self.folder}/download", "wb") as file:
            file.truncate(DOWNLOAD_BYTES)
        self.healthy()
        self.process = None
        self.start()

    def start(self):
        self.process = Process(self.namespace.command("nginx", "-e", f"{self.folder}/error.log",
                                                      "-c", f"{self.folder}/nginx.conf"), f"{self.folder}/log")

    def wait_listening(self):
        def listening():
            assert self.process.running(), f"nginx {self.name} ended:\n{self.process.output()}"
            try:
                with self.namespace.socket() as probe:
                    probe.connect(("127.0.0.1", HEALTH_PORT))
                return True
            except OSError:
                return False
        wait_for(listening, f"nginx {self.name} listening")

    def stop(self):
        self.process.stop()

    def healthy(self, yes=True):
        path = f"{self.folder}/healthy"
        if yes:
            open(path, "w").close()
        elif os.path.exists(path):
            os.unlink(path)

    def unhealthy(self):
        self.healthy(False)
