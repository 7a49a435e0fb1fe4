#include "conntrack/entry.hpp"

#include "catch.hpp"
#include "conntrack/line.hpp"

using namespace zonelb::conntrack;

TEST_CASE("an entry survives packing at its limits") {
  for (const Entry& entry :
       {Entry{}, Entry{Entry::max_targets - 1, 0xffff, Entry::max_zones - 1, State::removed},
        Entry{1, 2, 3, State::fin}}) {
    CHECK(PackedEntry(entry, 0).entry() == entry);
    CHECK(PackedEntry(entry, ~0ULL).entry() == entry);
    CHECK(PackedEntry(Entry{}, 77).with(entry).word() == PackedEntry(entry, 77).word());
  }
  CHECK(PackedEntry(Entry{}, 1).word() != PackedEntry(Entry{}, 2).word());
}

TEST_CASE("a tag keeps key, status and version apart") {
  const Tag tag(0xffffffffffULL, Tag::Status::tentative, 5);
  CHECK(tag.ports_protocol() == 0xffffffffffULL);
  CHECK(tag.status() == Tag::Status::tentative);
  CHECK(tag.version() == 5);
  CHECK_FALSE(tag.shows(0xffffffffffULL));
  CHECK(tag.with(Tag::Status::valid).shows(0xffffffffffULL));
  CHECK_FALSE(tag.with(Tag::Status::valid).shows(0xfffffffffeULL));
}

TEMPLATE_TEST_CASE_SIG("a home knows in which lines a key may be, whatever else is there", "",
                       ((unsigned slots), slots), 1, 2) {
  using There = Elsewhere<slots>;
  constexpr unsigned near_lines = slots_per_bucket / slots;
  CHECK(There::booking(0, 0, 1) == 0);
  // Of each slot's field the lowest and the highest value, and one for each part of the keys.
  for (const std::uint64_t hash : {0x00ULL, 0x01ULL, 0x55ULL, 0xaaULL, 0xffULL, 0x3ffULL, ~0ULL}) {
    std::uint64_t word = 0;
    for (unsigned line = 1; line < near_lines; ++line)
      for (unsigned way = 0; way < slots; ++way) word += There::booking(line, way, hash);
    for (unsigned line = near_lines; line < 2 * near_lines; ++line)
      for (unsigned often = 0; often < 15; ++often) word += There::booking(line, 0, hash);
    There all(word, hash);
    for (unsigned line = 1; line < 2 * near_lines; ++line, all.drop_first()) {
      REQUIRE(all.any());
      REQUIRE(all.first() == line);
    }
    CHECK_FALSE(all.any());

    for (unsigned line = 1; line < 2 * near_lines; ++line) {
      for (unsigned way = 0; way < slots; ++way) {
        There alone(There::booking(line, way, hash), hash);
        REQUIRE(alone.any());
        REQUIRE(alone.first() == line);
        alone.drop_first();
        REQUIRE_FALSE(alone.any());
      }
    }
  }
}

TEMPLATE_TEST_CASE_SIG("a home tells keys that live near apart", "", ((unsigned slots), slots), 1, 2) {
  using There = Elsewhere<slots>;
  for (std::uint64_t here = 0; here < 16; ++here)
    for (std::uint64_t asked = 0; asked < 16; ++asked)
      REQUIRE(There(There::booking(1, slots - 1, here), asked).any() == (here == asked));
}

TEST_CASE("TCP states seen from the client's side") {
  using namespace tcp_flag;
  CHECK(first_state(syn) == State::syn);
  CHECK(first_state(syn | ack) == State::single);
  CHECK(first_state(ack) == State::single);
  CHECK(first_state(0) == State::single);
  CHECK(first_state(rst) == State::rst);
  CHECK(first_state(fin | ack) == State::fin);

  CHECK(next_state(State::syn, syn) == State::syn);
  CHECK(next_state(State::syn, ack) == State::confirmed);
  CHECK(next_state(State::single, ack) == State::confirmed);
  CHECK(next_state(State::single, 0) == State::confirmed);
  CHECK(next_state(State::confirmed, fin | ack) == State::fin);
  CHECK(next_state(State::fin, ack) == State::fin);
  CHECK(next_state(State::fin, rst) == State::rst);
  CHECK(next_state(State::rst, ack) == State::rst);

  CHECK(timeout_seconds(State::confirmed, 600) == 600);
  CHECK(timeout_seconds(State::fin, 600) == 60);
  CHECK(timeout_seconds(State::rst, 600) == 10);
}
