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

TEMPLATE_TEST_CASE_SIG("a home knows which lines have keys, apart for each part of them", "",
                       ((unsigned parts), parts), 2, 4) {
  using There = Elsewhere<parts>;
  constexpr unsigned lines = 16 / parts;
  CHECK(There::booking(0, 1) == 0);
  std::uint64_t word = 0;
  for (std::uint64_t hash = 0; hash < parts; ++hash)
    for (unsigned line = 1; line < lines; ++line) word += There::booking(line, hash);
  for (std::uint64_t hash = 0; hash < parts; ++hash) {
    There there(word, hash);
    for (unsigned line = 1; line < lines; ++line, there.drop_first()) {
      REQUIRE(there.any());
      REQUIRE(there.first() == line);
      const auto others = word - There::booking(line, hash);
      for (There left(others, hash); left.any(); left.drop_first()) REQUIRE(left.first() != line);
    }
    CHECK_FALSE(there.any());
  }
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
