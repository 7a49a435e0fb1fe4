#include "table_only.hpp"

#include <algorithm>
#include <bit>
#include <fstream>
#include <map>
#include <numeric>
#include <random>
#include <thread>
#include <tuple>

#include <boost/program_options.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <rte_cycles.h>

#include "command_line.hpp"
#include "contenders.hpp"
#include "dataplane/eal.hpp"
#include "lcores.hpp"
#include "net/endian.hpp"

namespace zonelb::bench {
namespace {

namespace options_lib = boost::program_options;

struct TableOptions {
  unsigned capacity = 1U << 22;
  unsigned runs = 5;
  unsigned threads = std::clamp(std::thread::hardware_concurrency(), 1U, 2U);
  bool ipv6 = false;
  bool json = false;
};

constexpr std::array loads{10U, 50U, 80U, 90U};
/// Insertions are timed on the way from this many percent below a load to the load.
constexpr unsigned insertion_percent = 2;
/// Keys of one timed look-up phase at most.
constexpr std::uint64_t most_look_ups = 1U << 20;

enum class Operation : std::uint8_t { hit, miss, insert };
constexpr const char* operation_names[] = {"hit", "miss", "insert"};
enum class Contender : std::uint8_t { ours, rte_hash };
constexpr const char* contender_names[] = {"ours", "rte_hash"};

struct Row {
  unsigned threads;
  unsigned load;
  Operation operation;
  friend auto operator<=>(const Row&, const Row&) = default;
};

/// Of each contender.
template <class T>
using Both = std::array<T, 2>;

struct Result {
  /// Cycles per key, a value for each run.
  std::map<Row, Both<std::vector<double>>> cycles;
  /// Of all keys up to a load, in the worst of the runs: (threads, load).
  std::map<std::pair<unsigned, unsigned>, Both<std::uint64_t>> refused;
  Both<std::size_t> memory{};
  Both<bool> huge_pages{};
};

/// The 5-tuple of TCP connection `number`: one service, clients of 50,000 connections each.
conntrack::FlowKey flow_key(std::uint32_t number, bool ipv6) {
  constexpr std::uint32_t ports_per_client = 50'000;
  const auto client = net::be32((20U << 24) + number / ports_per_client);
  const auto server = net::be32((10U << 24) + 1);
  const auto port = net::be16(static_cast<std::uint16_t>(10'000 + number % ports_per_client));
  const auto upper = [](net::be32 word) { return std::uint64_t{word.raw()} << 32; };
  conntrack::FlowKey key{};
  if (ipv6) {
    const auto network = upper(net::be32(1)) | net::be32(0x20010db8).raw();
    key.addresses = {network, upper(client), network, upper(server)};
  } else {
    key.addresses[0] = upper(server) | client.raw();
  }
  constexpr std::uint64_t tcp = 6;
  key.ports_protocol = tcp << 32 | std::uint64_t{net::be16(80).raw()} << 16 | port.raw();
  return key;
}

/// Numbers of connections in the order in which they are used.
using Numbers = std::vector<std::uint32_t>;

/// What a contender made of some keys.
struct Outcome {
  /// Cycles per key of each burst.
  std::vector<double> cycles;
  /// Keys found, or refused.
  std::uint64_t counted = 0;

  void add(const Outcome& other) {
    cycles.insert(cycles.end(), other.cycles.begin(), other.cycles.end());
    counted += other.counted;
  }
};

/// The mean without the slowest fiftieth: there are the bursts in which an interrupt or another program had
/// the CPU.
double trimmed_mean(std::vector<double> values) {
  const auto kept = static_cast<std::ptrdiff_t>(values.size() - values.size() / 50);
  std::ranges::nth_element(values, values.begin() + kept - 1);
  return std::accumulate(values.begin(), values.begin() + kept, 0.0) / static_cast<double>(kept);
}

/// Puts connections number `offset` + each of `numbers` through a contender; only its work is timed, not the
/// composing of keys.
template <class Table>
Outcome put_through(Table& table, Operation operation, std::span<const std::uint32_t> numbers,
                    std::uint32_t offset, unsigned thread, bool ipv6) {
  typename Table::Burst burst;
  Outcome result;
  result.cycles.reserve(numbers.size() / table_burst + 1);
  for (std::size_t done = 0; done < numbers.size(); done += table_burst) {
    const auto count = static_cast<unsigned>(std::min<std::size_t>(table_burst, numbers.size() - done));
    for (unsigned i = 0; i < count; ++i) burst.set(i, flow_key(offset + numbers[done + i], ipv6));
    const auto begin = rte_rdtsc();
    result.counted +=
        operation == Operation::insert ? table.insert(burst, count, thread) : table.look_up(burst, count);
    result.cycles.push_back(static_cast<double>(rte_rdtsc() - begin) / count);
  }
  return result;
}

/// The same with all threads at once, each with its share of the numbers.
template <class Table>
Outcome put_through(Table& table, Operation operation, std::span<const std::uint32_t> numbers,
                    std::uint32_t offset, unsigned threads, const TableOptions& options) {
  std::vector<Outcome> parts(threads);
  on_lcores(threads, [&](unsigned thread) {
    const auto begin = numbers.size() * thread / threads;
    const auto end = numbers.size() * (thread + 1) / threads;
    parts[thread] =
        put_through(table, operation, numbers.subspan(begin, end - begin), offset, thread, options.ipv6);
  });
  for (unsigned thread = 1; thread < threads; ++thread) parts[0].add(parts[thread]);
  return std::move(parts[0]);
}

/// One contender and what of it is measured.
template <class Table>
class Course {
 public:
  Course(const TableOptions& options, unsigned threads, Contender contender, Result& result)
      : options_(options),
        threads_(threads),
        contender_(static_cast<std::size_t>(contender)),
        result_(result),
        table_(options.capacity, threads) {
    result.memory[contender_] = table_.memory_size();
    result.huge_pages[contender_] = table_.in_huge_pages();
  }

  void begin_run() {
    table_.clear();
    filled_ = 0;
    refused_ = 0;
  }

  /// Fills the table up to `load` percent and looks up what is there, and as much that is not.
  void go_to(unsigned load, std::span<const std::uint32_t> numbers) {
    fill(numbers, load - insertion_percent);
    note(load, Operation::insert, fill(numbers, load));
    auto& worst = result_.refused[{threads_, load}][contender_];
    worst = std::max(worst, refused_);
    const auto wanted = numbers.first(std::min(filled_, most_look_ups));
    const auto hits = put_through(table_, Operation::hit, wanted, 0, threads_, options_);
    const auto misses = put_through(table_, Operation::miss, wanted, options_.capacity, threads_, options_);
    if (hits.counted + refused_ < wanted.size() || misses.counted != 0)
      throw std::runtime_error(fmt::format("{}: {} of {} keys found, and {} that are not there",
                                           contender_names[contender_], hits.counted, wanted.size(),
                                           misses.counted));
    note(load, Operation::hit, hits);
    note(load, Operation::miss, misses);
  }

 private:
  Outcome fill(std::span<const std::uint32_t> numbers, unsigned load) {
    const std::uint64_t end = std::uint64_t{options_.capacity} * load / 100;
    auto outcome = put_through(table_, Operation::insert, numbers.subspan(filled_, end - filled_), 0,
                               threads_, options_);
    filled_ = end;
    refused_ += outcome.counted;
    return outcome;
  }

  void note(unsigned load, Operation operation, const Outcome& outcome) {
    result_.cycles[{threads_, load, operation}][contender_].push_back(trimmed_mean(outcome.cycles));
  }

  const TableOptions& options_;
  unsigned threads_;
  std::size_t contender_;
  Result& result_;
  Table table_;
  std::uint64_t filled_ = 0;
  std::uint64_t refused_ = 0;
};

template <class Ours, class Theirs>
void measure(const TableOptions& options, unsigned threads, std::span<const std::uint32_t> numbers,
             Result& result) {
  Course<Ours> ours(options, threads, Contender::ours, result);
  Course<Theirs> theirs(options, threads, Contender::rte_hash, result);
  for (unsigned run = 0; run < options.runs; ++run) {
    ours.begin_run();
    theirs.begin_run();
    for (const auto load : loads) {
      ours.go_to(load, numbers);
      theirs.go_to(load, numbers);
    }
  }
}

Result measure(const TableOptions& options) {
  Numbers numbers(options.capacity);
  std::iota(numbers.begin(), numbers.end(), 0);
  std::ranges::shuffle(numbers, std::mt19937(1));
  Result result;
  for (unsigned threads = 1; threads <= options.threads; ++threads) {
    if (options.ipv6)
      measure<OurTable<conntrack::Table6>, RteHash<6>>(options, threads, numbers, result);
    else
      measure<OurTable<conntrack::Table4>, RteHash<2>>(options, threads, numbers, result);
  }
  return result;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const auto half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

template <class T>
nlohmann::ordered_json to_json(const Both<T>& values) {
  return {{contender_names[0], values[0]}, {contender_names[1], values[1]}};
}

Both<double> bytes_per_key(const TableOptions& options, const Result& result) {
  const double capacity = options.capacity;
  return {static_cast<double>(result.memory[0]) / capacity, static_cast<double>(result.memory[1]) / capacity};
}

const char* better(const Both<double>& cycles) {
  return contender_names[cycles[0] < cycles[1] ? 0 : 1];
}

void print_json(const TableOptions& options, const Result& result) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const auto& [row, runs] : result.cycles) {
    const Both<double> cycles{median(runs[0]), median(runs[1])};
    rows.push_back({{"threads", row.threads},
                    {"load_percent", row.load},
                    {"operation", operation_names[static_cast<std::size_t>(row.operation)]},
                    {"cycles_per_key", to_json(cycles)},
                    {"refused", to_json(result.refused.at({row.threads, row.load}))},
                    {"better", better(cycles)}});
  }
  const nlohmann::ordered_json json{{"capacity", options.capacity},
                                    {"ipv6", options.ipv6},
                                    {"runs", options.runs},
                                    {"threads", options.threads},
                                    {"bytes_per_key", to_json(bytes_per_key(options, result))},
                                    {"huge_pages", to_json(result.huge_pages)},
                                    {"rows", rows}};
  fmt::print("{}\n", json.dump());
}

void print_text(const TableOptions& options, const Result& result) {
  fmt::print("cycles per key and thread, {} places, medians of {} runs\n", options.capacity, options.runs);
  fmt::print("  threads  load            ours  rte_hash  better      refused: ours  rte_hash\n");
  for (const auto& [row, runs] : result.cycles) {
    const Both<double> cycles{median(runs[0]), median(runs[1])};
    const auto& refused = result.refused.at({row.threads, row.load});
    fmt::print("  {:>7} {:>3} %  {:<7} {:>7.1f} {:>9.1f}  {:<8} {:>16} {:>9}\n", row.threads, row.load,
               operation_names[static_cast<std::size_t>(row.operation)], cycles[0], cycles[1], better(cycles),
               refused[0], refused[1]);
  }
  const auto bytes = bytes_per_key(options, result);
  const auto pages = [&](std::size_t of) { return result.huge_pages[of] ? "huge" : "ordinary"; };
  fmt::print("  memory: ours {:.1f} bytes a key in {} pages, rte_hash {:.1f} in {} pages\n", bytes[0],
             pages(0), bytes[1], pages(1));
}

/// Bytes in pages of 2 MB that nobody has taken.
std::uint64_t free_huge_memory() {
  std::uint64_t pages = 0;
  std::ifstream("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages") >> pages;
  return pages << 21;
}

/// EAL's memory is rte_hash's: in huge pages when there are enough for both tables, else none for either.
std::vector<std::string> eal_for_tables(const TableOptions& options) {
  // A key with what belongs to it, its share of a bucket, and its place in the ring of free ones.
  const std::uint64_t theirs = std::uint64_t{options.capacity} * (options.ipv6 ? 96 : 64) + (64U << 20);
  const std::uint64_t ours = std::uint64_t{options.capacity} * (options.ipv6 ? 64 : 32) + (4U << 20);
  auto arguments = eal_arguments(options.threads);
  std::erase(arguments, "--no-huge");
  const auto size = std::find(arguments.begin(), arguments.end(), "-m");
  if (free_huge_memory() >= theirs + ours) {
    arguments.erase(size, size + 2);
    arguments.emplace_back("--in-memory");
  } else {
    *(size + 1) = std::to_string(theirs >> 20);
    arguments.emplace_back("--no-huge");
  }
  return arguments;
}

}  // namespace

int measure_tables(int argc, char** argv) {
  TableOptions options;
  bool chosen = false;
  options_lib::options_description all(
      "zonelb-bench --table-only: our connection table beside DPDK's rte_hash, cycles per key", 100);
  const auto number = [](unsigned& value) { return options_lib::value(&value)->default_value(value); };
  auto add = all.add_options();
  add("table-only", options_lib::bool_switch(&chosen), "measure tables instead of packets");
  add("capacity", number(options.capacity), "places, rounded up to a power of two as rte_hash does");
  add("runs", number(options.runs), "each fills both tables anew");
  add("threads", number(options.threads), "measured with one, two and so on up to this many");
  add("ipv6", options_lib::bool_switch(&options.ipv6), "IPv6 instead of IPv4");
  add("json", options_lib::bool_switch(&options.json), "one JSON object");
  options_lib::variables_map values;
  if (!read_command_line(all, argc, argv, values)) return 0;
  require_counts(values, {"runs", "threads"});
  constexpr unsigned least = 1024, most = 1U << 30;
  if (options.capacity < least || options.capacity > most)
    throw options_lib::error(fmt::format("--capacity must be {} to {}", least, most));
  options.capacity = std::bit_ceil(options.capacity);
  const dataplane::Eal eal(eal_for_tables(options));
  const auto result = measure(options);
  if (options.json)
    print_json(options, result);
  else
    print_text(options, result);
  return 0;
}

}  // namespace zonelb::bench
