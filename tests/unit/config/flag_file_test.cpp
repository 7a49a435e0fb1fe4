#include "catch.hpp"
#include "configurations.hpp"

namespace zonelb::config::test {

namespace {

const std::string machine =
    "port = name=0,address=10.0.0.2/16\n"
    "zone = zone-a\n";

std::string error_with(const FlagFiles& files, const std::string& text) {
  const auto path = files.write("main.flags", text);
  auto message = error_of([&] { read({"--flagfile", path}); });
  const auto directory = files.path("");
  while (message.find(directory) != std::string::npos)
    message.erase(message.find(directory), directory.size());
  return message;
}

}  // namespace

TEST_CASE("a flag file reads the same names as the command line") {
  const FlagFiles files;
  const auto path = files.write("main.flags",
                                "# a comment\n"
                                "\n" +
                                    machine +
                                    "  relaxed-limits          # a flag alone\r\n"
                                    "--region = eu# not a comment is not allowed in a name, so none here\n");
  CHECK(error_of([&] {
          read({"--flagfile", path});
        }).find("main.flags:6: region 'eu# not a comment") != std::string::npos);

  const auto good = files.write("good.flags", machine +
                                                  "relaxed-limits          # a flag alone\r\n"
                                                  "--region=eu\n"
                                                  "http-listen =\n"
                                                  "eal = \"-l 0 # 1\"         # quoted as a whole\n"
                                                  "eal = --no-huge\n"
                                                  "health-check = name=hc, \\\n"
                                                  "    protocol=HTTP, \\      # of the service\n"
                                                  "    response=\"a # b, c\"\n");
  const auto config = read({"--flagfile", good}).config;
  CHECK(config.relaxed_limits);
  CHECK(config.region == "eu");
  CHECK(config.machine.http_listen.empty());
  CHECK(config.machine.eal == std::vector<std::string>{"-l", "0", "#", "1", "--no-huge"});
  CHECK(config.health_checks.at(0).protocol == ProbeProtocol::http);
  CHECK(config.health_checks.at(0).response == "a # b, c");
}

TEST_CASE("errors in flag files name the file and the line") {
  const FlagFiles files;
  CHECK(error_with(files, machine + "backend-service = name=web\n\n"
                                    "backend = service=web,name=web-a1,address=10.0.1.1,zone=x\n") ==
        "main.flags:5: backend web-a1: zone 'x' is not declared; known zones: zone-a");
  CHECK(error_with(files, machine + "health-check = name=hc, \\\n  protocol=TCP, \\\n port=x\n") ==
        "main.flags:3: health-check hc: port 'x' is not accepted; accepted: a number from 1 to 65535");
  CHECK(error_with(files, machine + "zone = zone-a\n") ==
        "main.flags:3: zone zone-a: already given at main.flags:2");
  CHECK(error_with(files, "region = eu\nregion = us\n") ==
        "main.flags:2: region 'us' contradicts 'eu' given at main.flags:1");
  CHECK(error_with(files, "regoin = eu\n") ==
        "main.flags:1: unknown flag 'regoin'; did you mean 'region'? zonelb --help lists all flags");
  CHECK(error_with(files, "region eu\n") == "main.flags:1: expected '=' after 'region'");
  CHECK(error_with(files, "region\n") == "main.flags:1: region needs a value: region = NAME");
  CHECK(error_with(files, "region =\n") ==
        "main.flags:1: region '' is not accepted; accepted: 1 to 63 letters, digits, '.', '_', '-'");
  CHECK(error_with(files, "eal = \"-l 0\n") == "main.flags:1: no closing '\"'");
  CHECK(error_with(files, "eal = \"-l 0\" 1\n") ==
        "main.flags:1: expected nothing after the closing '\"', got '1'");
  CHECK(error_with(files, "check\n") == "main.flags:1: check is for the command line only");
  CHECK(error_with(files, "help = ports\n") == "main.flags:1: help is for the command line only");
  CHECK(error_with(files, "flagfile = gone.flags\n") ==
        "main.flags:1: flagfile: cannot read 'gone.flags': No such file or directory");
}

TEST_CASE("flag files name others, relative to themselves") {
  const FlagFiles files;
  files.write("zones/zones.flags", "zone = zone-b\nflagfile = more.flags\n");
  files.write("zones/more.flags", "zone = zone-c\n");
  const auto main = files.write("main.flags", machine + "flagfile = zones/zones.flags\n");
  CHECK(read({"--flagfile", main}).config.zones == std::vector<std::string>{"zone-a", "zone-b", "zone-c"});

  SECTION("by an absolute path as well") {
    const auto absolute = files.write("absolute.flags", "flagfile = " + main + "\n");
    CHECK(read({"--flagfile", absolute}).config.zones.size() == 3);
  }
  SECTION("but not themselves") {
    files.write("zones/more.flags", "flagfile = ../main.flags\n");
    const auto message = error_of([&] { read({"--flagfile", main}); });
    CHECK(message == files.path("zones/more.flags") + ":1: flagfile: '" + files.path("zones/../main.flags") +
                         "' includes itself");
  }
}

TEST_CASE("single flags on the command line win over files, those over pmd-config") {
  const FlagFiles files;
  const auto main = files.write("main.flags", machine + "region = eu\nrx-descriptors = 512\neal = -l 0\n");
  const auto pmd =
      files.write("tap.flags", "eal = --vdev=net_tap0\nrx-descriptors = 256\ntx-descriptors = 128\n");

  const auto config =
      read({"--region", "us", "--eal", "--no-huge", "--flagfile", main, "--pmd-config", pmd}).config;
  CHECK(config.region == "us");
  CHECK(config.machine.rx_descriptors == 512);
  CHECK(config.machine.tx_descriptors == 128);
  CHECK(config.machine.eal == std::vector<std::string>{"--vdev=net_tap0", "-l", "0", "--no-huge"});

  SECTION("resource flags add up") {
    CHECK(read({"--flagfile", main, "--zone", "zone-b"}).config.zones ==
          std::vector<std::string>{"zone-a", "zone-b"});
    CHECK(error_of([&] {
            read({"--zone", "zone-a", "--flagfile", main});
          }) == "argument --zone: zone zone-a: already given at " + main + ":2");
  }
  SECTION("the same value twice is no contradiction") {
    CHECK(read({"--flagfile", main, "--region", "us", "--region", "us"}).config.region == "us");
  }
  SECTION("two files must not disagree") {
    const auto other = files.write("other.flags", "region = asia\n");
    CHECK(error_of([&] {
            read({"--flagfile", main, "--flagfile", other});
          }) == other + ":1: region 'asia' contradicts 'eu' given at " + main + ":3");
  }
  SECTION("a pmd-config file holds port tuning only") {
    const auto wrong = files.write("wrong.flags", "region = eu\n");
    CHECK(error_of([&] {
            read({"--pmd-config", wrong});
          }) == wrong +
                    ":1: region is not for a pmd-config file; accepted: eal, rx-queues, rx-descriptors, "
                    "tx-descriptors, mbufs");
  }
  SECTION("a flag file may name its pmd-config") {
    const auto outer = files.write("outer.flags", machine + "pmd-config = tap.flags\n");
    CHECK(read({"--flagfile", outer}).config.machine.rx_descriptors == 256);
  }
}

TEST_CASE("a policy decision needs no port") {
  const FlagFiles files;
  const std::vector<std::string> paths{
      files.write("main.flags", "zone = a\nbackend-service = name=web\n"),
      files.write("backends.flags", "backend = service=web,name=b0,address=192.0.2.1,zone=a\n")};
  CHECK(read_flag_files(paths).backends.size() == 1);
  CHECK(error_of([&] {
          read({"--flagfile", paths[0], "--flagfile", paths[1]});
        }) == "no --port is given: zonelb needs one such as --port name=0,address=10.0.0.2/16");
}

}  // namespace zonelb::config::test
