#pragma once

#include <string>
#include <sys/types.h>

#include <boost/asio/local/stream_protocol.hpp>

namespace zonelb::http {

/// The file of a listening UNIX socket: made by bind, removed with this object if it is still the same file.
class UnixSocketFile {
 public:
  /// Binds `acceptor` (open, not bound) to `path` with mode 0600. Throws ListenError.
  UnixSocketFile(boost::asio::local::stream_protocol::acceptor& acceptor, std::string path);
  ~UnixSocketFile();
  UnixSocketFile(const UnixSocketFile&) = delete;
  UnixSocketFile& operator=(const UnixSocketFile&) = delete;

 private:
  std::string path_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace zonelb::http
