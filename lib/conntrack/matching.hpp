#pragma once

#include "conntrack/bucket.hpp"

#if defined(__SSE4_1__) && !defined(__SANITIZE_THREAD__)
#define ZONELB_MATCH_SSE 1
#include <smmintrin.h>
#endif

namespace zonelb::conntrack {

/// Ways of a bucket whose valid tag shows `ports_protocol` (and, for IPv4, whose address is `address`), as
/// bits. Only a hint: who takes a way reads tag and key again, in order.
#ifdef ZONELB_MATCH_SSE

namespace detail {

/// Which of two words equal `wanted` where `mask` has ones. Aligned words do not tear; their order does not
/// matter here.
inline __m128i equal_pair(const std::atomic<std::uint64_t>* words, __m128i mask, __m128i wanted) {
  return _mm_cmpeq_epi64(_mm_and_si128(_mm_load_si128(reinterpret_cast<const __m128i*>(words)), mask),
                         wanted);
}

inline unsigned bits(__m128i low, __m128i high) {
  return static_cast<unsigned>(_mm_movemask_pd(_mm_castsi128_pd(low))) |
         static_cast<unsigned>(_mm_movemask_pd(_mm_castsi128_pd(high))) << 2;
}

inline __m128i both(std::uint64_t word) {
  return _mm_set1_epi64x(static_cast<long long>(word));
}

}  // namespace detail

inline unsigned matching_ways(const Bucket4& bucket, const FlowKey& key) {
  using namespace detail;
  const __m128i tag_mask = both(Tag::shown_mask);
  const __m128i tag = both(Tag::shown(key.ports_protocol));
  const __m128i all = both(~0ULL);
  const __m128i address = both(key.addresses[0]);
  return bits(_mm_and_si128(equal_pair(&bucket.tag[0], tag_mask, tag),
                            equal_pair(&bucket.address[0][0], all, address)),
              _mm_and_si128(equal_pair(&bucket.tag[2], tag_mask, tag),
                            equal_pair(&bucket.address[2][0], all, address)));
}

inline unsigned matching_ways(const Bucket6& bucket, const FlowKey& key) {
  using namespace detail;
  const __m128i tag_mask = both(Tag::shown_mask);
  const __m128i tag = both(Tag::shown(key.ports_protocol));
  return bits(equal_pair(&bucket.tag[0], tag_mask, tag), equal_pair(&bucket.tag[2], tag_mask, tag));
}

#else

template <class Bucket>
unsigned matching_ways(const Bucket& bucket, const FlowKey& key) {
  unsigned ways = 0;
  for (unsigned way = 0; way < slots_per_bucket; ++way)
    ways |= unsigned{Tag(bucket.tag[way].load(std::memory_order_relaxed)).shows(key.ports_protocol)} << way;
  return ways;
}

#endif

}  // namespace zonelb::conntrack
