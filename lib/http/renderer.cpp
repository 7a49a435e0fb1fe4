#include "http/renderer.hpp"

#include <csignal>
#include <pthread.h>

#include <boost/asio/async_result.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "http/connection.hpp"

namespace zonelb::http {
namespace asio = boost::asio;

Renderer::Renderer() : thread_([this] { run(); }) {}

Renderer::~Renderer() {
  stop();
  thread_.join();
}

void Renderer::run() {
  pthread_setname_np(pthread_self(), "zonelb-render");
  sigset_t all;  // signals are the main thread's business
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  const auto work = asio::make_work_guard(io_);
  io_.run();
}

asio::awaitable<Response> Renderer::render(Rendering rendering) {
  const auto begin = [this](auto&& caller, Rendering what) {
    auto back = asio::make_work_guard(asio::get_associated_executor(caller));
    asio::post(io_, [what = std::move(what), back = std::move(back),
                     caller = std::forward<decltype(caller)>(caller)]() mutable {
      auto response = guarded(what);
      what = nullptr;  // what it holds is let go of on this thread
      asio::post(back.get_executor(), [caller = std::move(caller), response = std::move(response)]() mutable {
        caller(std::move(response));
      });
    });
  };
  return asio::async_initiate<const asio::use_awaitable_t<>&, void(Response)>(begin, asio::use_awaitable,
                                                                              std::move(rendering));
}

}  // namespace zonelb::http
