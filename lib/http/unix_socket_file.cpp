#include "http/unix_socket_file.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <fmt/format.h>

#include "http/server.hpp"

namespace zonelb::http {
namespace {

using boost::asio::local::stream_protocol;

stream_protocol::endpoint endpoint(const std::string& path) {
  try {
    return path;
  } catch (const boost::system::system_error& error) {
    throw ListenError(fmt::format("control socket {}: {}", path, error.code().message()));
  }
}

/// Removes a socket file that a dead process left; throws when it is somebody's.
void remove_stale(const std::string& path) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) return;
  if (!S_ISSOCK(status.st_mode))
    throw ListenError(fmt::format("control socket {}: there is a file of another kind, not removed", path));
  boost::asio::io_context io;
  stream_protocol::socket probe(io);
  boost::system::error_code error;
  probe.open();
  probe.non_blocking(true);
  probe.connect(endpoint(path), error);
  // A full queue (would_block) has an owner, too.
  if (!error || error == boost::asio::error::would_block)
    throw ListenError(fmt::format("control socket {} is in use by another process", path));
  if (error != boost::asio::error::connection_refused)
    throw ListenError(fmt::format("control socket {}: {}", path, error.message()));
  unlink(path.c_str());
}

}  // namespace

UnixSocketFile::UnixSocketFile(stream_protocol::acceptor& acceptor, std::string path)
    : path_(std::move(path)) {
  const auto where = endpoint(path_);
  std::error_code ignored;
  if (const auto folder = std::filesystem::path(path_).parent_path(); !folder.empty())
    std::filesystem::create_directory(folder, ignored);
  remove_stale(path_);
  // The kernel gives the file the mode of the socket, so it is never open to others, not even for a moment.
  fchmod(acceptor.native_handle(), S_IRUSR | S_IWUSR);
  boost::system::error_code error;
  acceptor.bind(where, error);
  if (error) throw ListenError(fmt::format("control socket {}: {}", path_, error.message()));
  struct stat status {};
  if (lstat(path_.c_str(), &status) == 0) {
    device_ = status.st_dev;
    inode_ = status.st_ino;
  }
}

UnixSocketFile::~UnixSocketFile() {
  struct stat status {};
  if (lstat(path_.c_str(), &status) == 0 && status.st_dev == device_ && status.st_ino == inode_)
    unlink(path_.c_str());
}

}  // namespace zonelb::http
