"""Servers of ClickHouse on this machine, each with its own folder and ports, alone or as the shards of one cluster."""
import contextlib
import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

START_SECONDS = 60
SERVER = shutil.which("clickhouse-server")

CONFIG = """<yandex>
<logger><level>warning</level><log>{folder}/log</log><errorlog>{folder}/errors</errorlog></logger>
<http_port>{http}</http_port><tcp_port>{tcp}</tcp_port><listen_host>127.0.0.1</listen_host>
<path>{folder}/data/</path><tmp_path>{folder}/tmp/</tmp_path><users_config>{folder}/users.xml</users_config>
<default_profile>default</default_profile><default_database>default</default_database>
<mark_cache_size>10000000</mark_cache_size><uncompressed_cache_size>0</uncompressed_cache_size>
<max_concurrent_queries>100</max_concurrent_queries>
<remote_servers><fleet>{shards}</fleet></remote_servers>{more}
</yandex>"""
SHARD = "<shard><replica><host>127.0.0.1</host><port>{}</port></replica></shard>"
USER = "<{0}><password>{1}</password><networks><ip>127.0.0.1</ip></networks><profile>{2}</profile><quota>default</quota></{0}>"
USERS = """<yandex><profiles><default><max_memory_usage>{}</max_memory_usage></default><reader><readonly>1</readonly></reader></profiles>
<users>{}</users><quotas><default></default></quotas></yandex>"""
ALL_USERS = USER.format("default", "", "default") + USER.format("team", "s3cret", "default") + USER.format("reader", "look", "reader")
QUERY_BYTES = 2_000_000_000 # of memory, for each query


def free_ports(count):
    """Ports of this machine that nobody uses at this moment."""
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class ClickHouse:
    def __init__(self, folder, ports=None, shards=(), more="", query_bytes=QUERY_BYTES):
        self.folder, (self.http, self.tcp) = folder, ports or free_ports(2)
        for name in ("data", "tmp"):
            (folder / name).mkdir(parents=True)
        (folder / "users.xml").write_text(USERS.format(query_bytes, ALL_USERS))
        (folder / "config.xml").write_text(CONFIG.format(folder=folder, http=self.http, tcp=self.tcp, more=more,
            shards="".join(SHARD.format(port) for port in shards or [self.tcp])))
        self.process = None
        self.start()

    def start(self):
        with open(self.folder / "output", "ab") as output:
            self.process = subprocess.Popen([SERVER, f"--config-file={self.folder / 'config.xml'}"], stdin=subprocess.DEVNULL, stdout=output,
                stderr=output, env={**os.environ, "TZ": "UTC"})
        try:
            self.wait()
        except BaseException:
            self.kill()
            raise

    def wait(self):
        """Waits until the server answers."""
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                return self.query("SELECT 1")
            except OSError:
                assert self.process.poll() is None and time.monotonic() < deadline, (self.folder / "output").read_text()
                time.sleep(0.05)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def query(self, sql, database="default", timeout=60):
        """The rows of an answer, as lists of texts. `timeout`: seconds."""
        request = urllib.request.Request(f"http://127.0.0.1:{self.http}/?database={database}&wait_end_of_query=1", data=sql.encode())
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                return [line.split("\t") for line in answer.read().decode().splitlines()]
        except urllib.error.HTTPError as error:
            raise AssertionError(error.read().decode()) from error

    def url(self, database, user=""):
        return f"http://{user}127.0.0.1:{self.http}/{database}"


@contextlib.contextmanager
def cluster(folder, count, query_bytes=QUERY_BYTES):
    """Servers that are the shards of a cluster of the name `fleet`, and end with the context."""
    ports = [free_ports(2) for _ in range(count)]
    with contextlib.ExitStack() as stack:
        servers = []
        for index, pair in enumerate(ports):
            servers.append(ClickHouse(folder / f"server{index + 1}", pair, [tcp for _, tcp in ports], query_bytes=query_bytes))
            stack.callback(servers[-1].kill)
        yield servers
