#pragma once

#include <string>
#include <vector>

#include <boost/program_options.hpp>

namespace zonelb::bench {

/// Reads a command line into what `all` names. False: help was asked for and has been printed.
/// Throws boost::program_options::error.
bool read_command_line(boost::program_options::options_description& all, int argc, char** argv,
                       boost::program_options::variables_map& values);

/// Throws boost::program_options::error when an option that counts something is 0.
void require_counts(const boost::program_options::variables_map& values,
                    const std::vector<std::string>& names);

/// EAL without devices, with memory from ordinary pages and lcores 0 to `lcores` - 1; `more`: further words.
std::vector<std::string> eal_arguments(unsigned lcores, const std::string& more = {});

}  // namespace zonelb::bench
