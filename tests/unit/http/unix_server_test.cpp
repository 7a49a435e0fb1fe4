#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/local/stream_protocol.hpp>

#include "catch.hpp"
#include "http/client.hpp"
#include "running_server.hpp"

using namespace zonelb::http;
using boost::asio::local::stream_protocol;

namespace {

/// A folder of its own that goes with the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "zonelb-http-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

Response echo(const Request& request) {
  if (request.path == "/big") return {200, "text/plain", std::string(20'000'000, 'x')};
  return {request.path == "/missing" ? 404U : 200U, "text/plain",
          request.method + " " + request.path + " " + request.body + (request.local ? " local" : " remote")};
}

/// The text of the ListenError that listening on `path` throws; empty when it works.
std::string listen_error(const std::string& path) {
  boost::asio::io_context io;
  Server server(io, echo);
  try {
    server.listen_unix(path);
  } catch (const ListenError& error) {
    return error.what();
  }
  return {};
}

std::string client_error(const std::string& path,
                         std::chrono::milliseconds timeout = std::chrono::seconds(5)) {
  try {
    request_unix(path, "GET", "/", {}, timeout);
  } catch (const ClientError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("client and server talk over a UNIX socket") {
  const TemporaryFolder folder;
  const auto path = folder / "control.sock";
  const RunningServer server(echo, {}, path);
  const auto response = request_unix(path, "POST", "/drain?backend=b1", "why");
  CHECK(response.status == 200);
  CHECK(response.content_type == "text/plain");
  CHECK(response.body == "POST /drain why local");
  CHECK(request_unix(path, "GET", "/missing").status == 404);
  CHECK(request_unix(path, "GET", "/big").body.size() == 20'000'000);
}

TEST_CASE("the socket file is the owner's alone and goes with the server") {
  const TemporaryFolder folder;
  const auto path = folder / "new/control.sock";
  {
    const RunningServer server(echo, {}, path);
    struct stat status {};
    REQUIRE(lstat(path.c_str(), &status) == 0);
    CHECK(S_ISSOCK(status.st_mode));
    CHECK((status.st_mode & 07777) == 0600);
  }
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("a socket somebody answers on is refused and left alone") {
  const TemporaryFolder folder;
  const auto path = folder / "control.sock";
  const RunningServer server(echo, {}, path);
  CHECK(listen_error(path) == "control socket " + path + " is in use by another process");
  CHECK(request_unix(path, "GET", "/still").body == "GET /still  local");
}

TEST_CASE("a socket file nobody answers on is replaced") {
  const TemporaryFolder folder;
  const auto path = folder / "control.sock";
  {
    boost::asio::io_context io;
    const stream_protocol::acceptor dead(io, path);  // leaves its file behind
  }
  REQUIRE(std::filesystem::exists(path));
  CHECK(client_error(path) == "no zonelb answers on " + path + ": Connection refused; is it running?");
  const RunningServer server(echo, {}, path);
  CHECK(request_unix(path, "GET", "/").status == 200);
}

TEST_CASE("files of other kinds, missing folders and long names are refused") {
  const TemporaryFolder folder;
  const auto file = folder / "file";
  std::ofstream(file) << "precious";
  CHECK(listen_error(file) == "control socket " + file + ": there is a file of another kind, not removed");
  CHECK(std::filesystem::file_size(file) == 8);
  const auto deep = folder / "a/b/control.sock";
  CHECK(listen_error(deep) == "control socket " + deep + ": No such file or directory");
  const auto longer = folder / std::string(120, 'x');
  CHECK(listen_error(longer) == "control socket " + longer + ": File name too long");
}

TEST_CASE("a socket file that another server has taken over is not removed") {
  const TemporaryFolder folder;
  const auto path = folder / "control.sock";
  std::optional<RunningServer> first;
  first.emplace(echo, Limits{}, path);
  std::filesystem::rename(path, folder / "moved.sock");
  const RunningServer second(echo, {}, path);
  first.reset();
  CHECK(request_unix(path, "GET", "/").status == 200);
}

TEST_CASE("the client says why there is no answer") {
  const TemporaryFolder folder;
  const auto path = folder / "control.sock";
  CHECK(client_error(path) == "no zonelb answers on " + path + ": No such file or directory; is it running?");
  boost::asio::io_context io;
  const stream_protocol::acceptor silent(io, path);
  CHECK(client_error(path, std::chrono::milliseconds(100)) ==
        "no zonelb answers on " + path + ": no answer within 100 ms");
  const auto longer = folder / std::string(120, 'x');
  CHECK(client_error(longer) == "no zonelb answers on " + longer + ": File name too long; is it running?");
}
