// The command line as engines write it.
// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace rung;
using cli::parse_globals;
using cli::parse_verb;

TEST_CASE("global flags end at the verb, and what follows is the verb's") {
    const auto options = parse_globals({"--root", "/r", "--log", "/l", "--log-format", "json",
                                        "--systemd-cgroup", "create", "--bundle", "/b", "--root", "x"});

    REQUIRE(options);
    CHECK(options->globals.root == "/r");
    CHECK(options->globals.systemd_cgroup);
    CHECK(options->log_file == "/l");
    CHECK(options->log_format == log::Format::json);
    CHECK(options->rest == std::vector<std::string>{"create", "--bundle", "/b", "--root", "x"});
}

TEST_CASE("the engine's own arguments come first, and --grant may be repeated") {
    const auto options = parse_globals(
        {"--grant", "a.yaml", "--grant=b.yaml", "--root=/r", "--log-format=json", "start", "c"});

    REQUIRE(options);
    CHECK(options->globals.grant_files == std::vector<std::string>{"a.yaml", "b.yaml"});
}

TEST_CASE("what runc takes and rung does not need is accepted") {
    CHECK(parse_globals(
        {"--rootless", "auto", "--criu", "/usr/sbin/criu", "--cgroup-manager", "cgroupfs", "list"}));
    CHECK(parse_globals({"--cgroup-manager=systemd", "list"})->globals.systemd_cgroup);
    CHECK(parse_globals({"--cgroup-manager", "disabled", "list"})->globals.without_cgroups);
    CHECK(parse_globals({"--ignore-cgroups", "list"})->globals.ignore_cgroups);
    CHECK(parse_globals({"--network=none", "list"})->globals.without_network);
    CHECK(!parse_globals({"--cgroup-manager", "other", "list"}));
}

TEST_CASE("no verb is help, and --version is a verb") {
    CHECK(parse_globals({})->rest == std::vector<std::string>{"help"});
    CHECK(parse_globals({"--root", "/r", "-v"})->rest == std::vector<std::string>{"version"});
    CHECK(std::get<cli::Help>(*parse_verb({"create", "--help"})).text.find("--console-socket") !=
          std::string::npos);
    CHECK(std::get<cli::Help>(*parse_verb({"help"})).text.find("features") != std::string::npos);
}

TEST_CASE("create takes containerd's and podman's flags") {
    const auto verb = parse_verb({"create", "--bundle", "/b", "--pid-file", "/p", "--console-socket", "/s",
                                  "--preserve-fds", "2", "--no-pivot", "c"});

    REQUIRE(verb);
    const auto& options = std::get<cli::Create>(*verb).options;
    CHECK(options.id == "c");
    CHECK(options.bundle == "/b");
    CHECK(options.pid_file == "/p");
    CHECK(options.console_socket == "/s");
    CHECK(options.preserve_fds == 2);
    CHECK(options.no_pivot);
    CHECK(!options.no_new_keyring);
}

TEST_CASE("a long flag may have one dash, and a value may stand behind an equals sign") {
    const auto verb =
        parse_verb({"run", "-no-subreaper", "-bundle", "/b", "-d=true", "--keep=false", "-pid-file=/p", "c"});

    REQUIRE(verb);
    const auto& options = std::get<cli::Run>(*verb).options;
    CHECK(options.no_subreaper);
    CHECK(options.bundle == "/b");
    CHECK(options.detach);
    CHECK(!options.keep);
    CHECK(options.pid_file == "/p");
}

TEST_CASE("an empty value is a value, and the last one counts") {
    const auto verb = parse_verb({"create", "--console-socket=", "-b", "/a", "-b", "/b", "c"});

    REQUIRE(verb);
    CHECK(std::get<cli::Create>(*verb).options.console_socket.empty());
    CHECK(std::get<cli::Create>(*verb).options.bundle == "/b");
    CHECK(std::get<cli::Create>(*verb).options.id == "c");
}

TEST_CASE("flags may follow the container's id") {
    const auto verb = parse_verb({"kill", "c", "9", "--all"});

    REQUIRE(verb);
    CHECK(std::get<cli::Kill>(*verb).id == "c");
    CHECK(std::get<cli::Kill>(*verb).signal == "9");
    CHECK(std::get<cli::Kill>(*verb).all);
    CHECK(std::get<cli::Delete>(*parse_verb({"delete", "c", "-f"})).force);
    CHECK(std::get<cli::Kill>(*parse_verb({"kill", "c"})).signal == "SIGTERM");
}

TEST_CASE("everything behind exec's container id belongs to the command") {
    const auto verb =
        parse_verb({"exec", "-d", "-e", "A=1",      "--env", "B=--tty", "-u",     "1:2", "-g", "5",
                    "-g",   "6",  "-c", "CAP_KILL", "c",     "sleep",   "--help", "-d",  "--", "x"});

    REQUIRE(verb);
    const auto& options = std::get<cli::Exec>(*verb).options;
    CHECK(options.id == "c");
    CHECK(options.args == std::vector<std::string>{"sleep", "--help", "-d", "--", "x"});
    CHECK(options.env == std::vector<std::string>{"A=1", "B=--tty"});
    CHECK(options.user == "1:2");
    CHECK(options.additional_gids == std::vector<uint32_t>{5, 6});
    CHECK(options.capabilities == std::vector<std::string>{"CAP_KILL"});
    CHECK(options.detach);
    CHECK(!options.tty);
    CHECK(!options.cwd);
}

TEST_CASE("two dashes before exec's command are not a command") {
    CHECK(std::get<cli::Exec>(*parse_verb({"exec", "c", "--", "ls", "-l"})).options.args ==
          std::vector<std::string>{"ls", "-l"});
    CHECK(std::get<cli::Exec>(*parse_verb({"exec", "--", "c", "ls"})).options.id == "c");
}

TEST_CASE("a wrong number of arguments is refused in runc's words") {
    CHECK(parse_verb({"start"}).error().message == "rung: \"start\" requires exactly 1 argument(s)");
    CHECK(parse_verb({"delete", "a", "b"}).error().message ==
          "rung: \"delete\" requires exactly 1 argument(s)");
    CHECK(parse_verb({"exec"}).error().message == "rung: \"exec\" requires a minimum of 1 argument(s)");
    CHECK(parse_verb({"list", "a"}).error().message == "rung: \"list\" requires exactly 0 argument(s)");
}

TEST_CASE("flags that are unknown, lack their value or have a wrong one are refused") {
    CHECK(parse_verb({"start", "--foo", "c"}).error().message == "flag provided but not defined: -foo");
    CHECK(parse_globals({"-nosuch", "list"}).error().message == "flag provided but not defined: -nosuch");
    CHECK(parse_verb({"run", "--bundle"}).error().message == "flag needs an argument: -bundle");
    CHECK(!parse_verb({"run", "--preserve-fds", "x", "c"}));
    CHECK(!parse_verb({"exec", "-g", "staff", "c", "id"}));
    CHECK(!parse_globals({"--log-format", "xml", "list"}));
}

TEST_CASE("a verb that is not there is kept by name") {
    CHECK(std::get<cli::Unknown>(*parse_verb({"levitate", "--help"})).name == "levitate");
}

TEST_CASE("flags of runsc are remarked on, and take part in nothing else") {
    const auto options =
        parse_globals({"--platform=kvm", "-strace", "--directfs=false", "--file-access", "shared", "list"});

    REQUIRE(options);
    CHECK(options->rest == std::vector<std::string>{"list"});
    CHECK(options->remarks.size() == 4);
}

TEST_CASE("checkpoint and restore take runc's flags") {
    const auto verb = parse_verb(
        {"checkpoint", "--image-path", "/i", "--work-path", "/w", "--file-locks", "--leave-running", "c"});
    const auto back = parse_verb({"restore", "--image-path", "/i", "--detach", "--pid-file", "/p",
                                  "-no-subreaper", "--bundle", "/b", "c"});

    REQUIRE(verb);
    CHECK(std::get<cli::Checkpoint>(*verb).options.criu.image_path == "/i");
    CHECK(std::get<cli::Checkpoint>(*verb).options.leave_running);
    REQUIRE(back);
    CHECK(std::get<cli::Restore>(*back).options.container.id == "c");
    CHECK(std::get<cli::Restore>(*back).options.container.no_subreaper);
}

TEST_CASE("a relative root is seen from the working directory") {
    const std::string root = parse_globals({"--root", "some/../where", "list"})->globals.root;

    CHECK(root.starts_with("/"));
    CHECK(root.ends_with("/where"));
    CHECK(root.find("..") == std::string::npos);
}
