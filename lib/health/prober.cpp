#include "health/prober.hpp"

#include <chrono>
#include <csignal>
#include <pthread.h>
#include <utility>
#include <xxhash.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace zonelb::health {
namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

/// A target under watch.
struct Prober::Watch {
  Watch(asio::io_context& io, ProbeTarget what)
      : target(std::move(what)),
        threshold(target.check.healthy_threshold, target.check.unhealthy_threshold),
        timer(io) {}

  const ProbeTarget target;
  Threshold threshold;
  asio::steady_timer timer;
  bool removed = false;
  bool slot_granted = false;
};

namespace {

/// Returns at `when`, or as soon as somebody cancels the timer.
asio::awaitable<void> sleep_until(asio::steady_timer& timer, Clock::time_point when) {
  boost::system::error_code ignored;
  timer.expires_at(when);
  co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

/// When a target's second probe starts, counted from its first. All targets of a start are probed at once;
/// from then on they lie spread over the interval, each always at the same place.
Clock::duration phase(const ProbeTarget& target) {
  const auto interval = Clock::duration(target.check.check_interval).count();
  const auto hash = XXH3_64bits(target.key.data(), target.key.size());
  return Clock::duration(static_cast<Clock::rep>(hash % static_cast<std::uint64_t>(interval)) + 1);
}

}  // namespace

Prober::Prober(Callback callback, std::size_t in_flight)
    : callback_(std::move(callback)), slots_(in_flight), thread_([this] { run(); }) {}

Prober::~Prober() {
  io_.stop();
  thread_.join();
}

void Prober::run() {
  pthread_setname_np(pthread_self(), "zonelb-health");
  sigset_t all;  // signals are the main thread's business
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  const auto work = asio::make_work_guard(io_);
  io_.run();
}

void Prober::set_targets(std::vector<ProbeTarget> targets, ProbeOrigin origin) {
  asio::post(io_, [this, targets = std::move(targets), origin = std::move(origin)]() mutable {
    origin_ = std::move(origin);
    replace_targets(targets);
  });
}

ProbeStatistics Prober::statistics() const {
  const std::scoped_lock lock(statistics_mutex_);
  return statistics_;
}

void Prober::replace_targets(std::vector<ProbeTarget>& targets) {
  auto before = std::exchange(watches_, {});
  for (auto& target : targets) {
    auto& entry = watches_[target.key];
    if (entry) continue;
    if (const auto old = before.find(target.key); old != before.end() && old->second->target == target) {
      entry = std::move(old->second);
      before.erase(old);
    } else {
      entry = std::make_shared<Watch>(io_, std::move(target));
      asio::co_spawn(io_, watch(entry), asio::detached);
    }
  }
  for (const auto& [key, gone] : before) {
    gone->removed = true;
    gone->timer.cancel();
  }
  const std::scoped_lock lock(statistics_mutex_);
  statistics_.targets = watches_.size();
}

asio::awaitable<void> Prober::watch(WatchPtr watch) {
  const Clock::duration interval = watch->target.check.check_interval;
  auto due = Clock::now();
  auto next = due + phase(watch->target);
  while (co_await acquire_slot(watch)) {
    co_await probe_once(watch);
    release_slot();
    if (watch->removed) break;
    // A probe that had to wait does not shift the later ones, unless whole intervals were lost.
    const auto now = Clock::now();
    due = next + interval < now ? now : next;
    next = due + interval;
    co_await sleep_until(watch->timer, due);
  }
}

asio::awaitable<void> Prober::probe_once(const WatchPtr& watch) {
  const auto start = Clock::now();
  auto result = co_await probe(watch->target, origin_);
  {
    const std::scoped_lock lock(statistics_mutex_);
    statistics_.record(result.outcome, Clock::now() - start);
  }
  if (watch->removed || result.outcome == Outcome::not_attempted) co_return;
  const bool first = watch->threshold.state() == State::unknown;
  if (watch->threshold.record(result.outcome == Outcome::passed))
    callback_({watch->target.key, watch->threshold.state(), std::move(result.reason), first});
}

/// Waits in line for a slot. False, and no slot taken, once the watch has been removed.
asio::awaitable<bool> Prober::acquire_slot(WatchPtr watch) {
  if (watch->removed) co_return false;
  if (slots_used_ < slots_) {
    ++slots_used_;
    co_return true;
  }
  waiting_.push_back(watch);
  {
    const std::scoped_lock lock(statistics_mutex_);
    ++statistics_.queued;
  }
  co_await sleep_until(watch->timer, Clock::time_point::max());
  co_return std::exchange(watch->slot_granted, false);
}

/// Hands the slot to the first in line.
void Prober::release_slot() {
  while (!waiting_.empty()) {
    const auto first = std::move(waiting_.front());
    waiting_.pop_front();
    if (first->removed) continue;
    first->slot_granted = true;
    first->timer.cancel();
    return;
  }
  --slots_used_;
}

}  // namespace zonelb::health
