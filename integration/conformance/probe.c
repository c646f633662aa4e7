// Prints everything that a process can find out about itself and its surroundings: "fact<TAB>value", one a line.
// It is the container's process in the conformance cases; static, so that any root file system will do.
//   probe [-w PATH]... [-s SECONDS]   -w: try to open PATH for writing as well; -s: stay afterwards
// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <termios.h>
#include <unistd.h>

extern char** environ;

static void print_text(const char* text) {
  for (; *text; text++) {
    if (*text == '\n') fputs("\\n", stdout);
    else if (*text == '\t') fputs("\\t", stdout);
    else putchar(*text);
  }
  putchar('\n');
}

static void say(const char* fact, const char* value) {
  fputs(fact, stdout);
  putchar('\t');
  print_text(value);
}

static void say_number(const char* fact, long value) {
  printf("%s\t%ld\n", fact, value);
}

static const char* outcome(long result) {
  return result < 0 ? strerrorname_np(errno) : "ok";
}

// Each line of a file is one fact, named by `prefix` and its first word when `named`.
static void say_lines(const char* prefix, const char* path) {
  FILE* file = fopen(path, "r");
  char line[8192];
  if (!file) {
    say(prefix, strerrorname_np(errno));
    return;
  }
  while (fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = 0;
    say(prefix, line);
  }
  fclose(file);
}

static void links(const char* prefix, const char* directory) {
  struct dirent** names;
  int count = scandir(directory, &names, NULL, versionsort);
  for (int i = 0; i < count; i++) {
    char path[600], target[4096], fact[400];
    snprintf(path, sizeof path, "%s/%s", directory, names[i]->d_name);
    ssize_t size = readlink(path, target, sizeof target - 1);
    if (size < 0) continue;
    target[size] = 0;
    // scandir's own descriptor is closed by now and cannot be read.
    snprintf(fact, sizeof fact, "%s %s", prefix, names[i]->d_name);
    say(fact, target);
  }
}

static void descriptors(void) {
  for (int fd = 0; fd < 1024; fd++) {
    char path[64], target[4096], fact[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ssize_t size = readlink(path, target, sizeof target - 1);
    if (size < 0) continue;
    target[size] = 0;
    snprintf(fact, sizeof fact, "fd %d", fd);
    say(fact, target);
  }
}

static void node(const char* prefix, const char* directory, const char* name) {
  char path[600], fact[400], target[4096] = "", line[4600];
  struct stat found;
  snprintf(path, sizeof path, "%s/%s", directory, name);
  if (lstat(path, &found) != 0) return;
  if (S_ISLNK(found.st_mode)) {
    ssize_t size = readlink(path, target, sizeof target - 1);
    target[size < 0 ? 0 : size] = 0;
  }
  const char* kind = S_ISDIR(found.st_mode) ? "dir" : S_ISCHR(found.st_mode) ? "char" : S_ISBLK(found.st_mode) ? "block"
      : S_ISLNK(found.st_mode) ? "link" : S_ISFIFO(found.st_mode) ? "fifo" : S_ISSOCK(found.st_mode) ? "socket" : "file";
  snprintf(line, sizeof line, "%s %o %u:%u", kind, found.st_mode & 07777, found.st_uid, found.st_gid);
  if (S_ISCHR(found.st_mode) || S_ISBLK(found.st_mode))
    snprintf(line + strlen(line), 64, " %u:%u", major(found.st_rdev), minor(found.st_rdev));
  if (*target) snprintf(line + strlen(line), 4200, " -> %s", target);
  snprintf(fact, sizeof fact, "%s %s", prefix, name);
  say(fact, line);
}

static void list(const char* prefix, const char* directory) {
  struct dirent** names;
  int count = scandir(directory, &names, NULL, versionsort);
  for (int i = 0; i < count; i++)
    if (strcmp(names[i]->d_name, "..") != 0) node(prefix, directory, names[i]->d_name);
}

// What a path is worth to a reader: nothing there, refused, empty, or with content.
static const char* reading(const char* path) {
  struct stat found;
  char byte;
  if (stat(path, &found) != 0) return strerrorname_np(errno);
  int fd = open(path, O_RDONLY | O_NONBLOCK);
  if (fd < 0) return strerrorname_np(errno);
  const char* answer;
  if (S_ISDIR(found.st_mode)) {
    DIR* opened = fdopendir(fd);
    int entries = 0;
    while (opened && readdir(opened)) entries++;
    if (opened) closedir(opened);
    return entries > 2 ? "directory with entries" : "empty directory";
  }
  ssize_t size = read(fd, &byte, 1);
  answer = size < 0 ? strerrorname_np(errno) : size == 0 ? "empty" : "content";
  close(fd);
  return answer;
}

static const char* writing(const char* path) {
  struct stat found;
  if (stat(path, &found) != 0) return strerrorname_np(errno);
  if (S_ISDIR(found.st_mode)) {
    char name[600];
    snprintf(name, sizeof name, "%s/probe-was-here", path);
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    const char* answer = outcome(fd);
    if (fd >= 0) {
      close(fd);
      unlink(name);
    }
    return answer;
  }
  int fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  const char* answer = outcome(fd);
  if (fd >= 0) close(fd);
  return answer;
}

static void masks(void) {
  static const char* hidden[] = {"/proc/acpi", "/proc/asound", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/timer_list",
                                 "/proc/timer_stats", "/proc/sched_debug", "/proc/scsi", "/sys/firmware", "/sys/devices/virtual/powercap",
                                 "/proc/interrupts", "/sys/fs/selinux"};
  static const char* closed[] = {"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys/kernel/hostname", "/proc/sys/net/ipv4/ip_forward",
                                 "/proc/sysrq-trigger", "/proc/self/oom_score_adj", "/sys/kernel/profiling", "/sys/fs/cgroup", "/", "/dev",
                                 "/dev/shm", "/tmp", "/dev/null"};
  char fact[300];
  for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++) {
    snprintf(fact, sizeof fact, "read %s", hidden[i]);
    say(fact, reading(hidden[i]));
    snprintf(fact, sizeof fact, "write %s", hidden[i]);
    say(fact, writing(hidden[i]));
  }
  for (size_t i = 0; i < sizeof closed / sizeof *closed; i++) {
    snprintf(fact, sizeof fact, "write %s", closed[i]);
    say(fact, writing(closed[i]));
  }
}

static void attributes(void) {
  struct sched_param priority = {0};
  char text[512] = "";
  cpu_set_t processors;
  say_number("pid", getpid());
  say_number("parent", getppid());
  say("session", getsid(0) == getpid() ? "leader" : getsid(0) == 0 ? "outside" : "member");
  say("group", getpgrp() == getpid() ? "leader" : getpgrp() == 0 ? "outside" : "member");
  say_number("scheduler", sched_getscheduler(0));
  sched_getparam(0, &priority);
  say_number("scheduler priority", priority.sched_priority);
  errno = 0;
  say_number("nice", getpriority(PRIO_PROCESS, 0));
  say_number("io priority", syscall(SYS_ioprio_get, 1, 0));
  say_number("processors", sched_getaffinity(0, sizeof processors, &processors) == 0 ? CPU_COUNT(&processors) : -1);
  say_number("personality", personality(0xffffffff));
  int deadly = 0;
  prctl(PR_GET_PDEATHSIG, &deadly);
  say_number("parent death signal", deadly);
  say_number("dumpable", prctl(PR_GET_DUMPABLE));
  say_number("securebits", prctl(PR_GET_SECUREBITS));
  int subreaper = 0;
  prctl(PR_GET_CHILD_SUBREAPER, &subreaper);
  say_number("subreaper", subreaper);
  say_number("keepcaps", prctl(PR_GET_KEEPCAPS));
  long size = syscall(SYS_keyctl, KEYCTL_DESCRIBE, KEY_SPEC_SESSION_KEYRING, text, sizeof text);
  say("session keyring", size < 0 ? strerrorname_np(errno) : text);
  struct utsname names;
  uname(&names);
  say("hostname", names.nodename);
  say("domainname", names.domainname);
  say("machine", names.machine);
  char* directory = getcwd(NULL, 0);
  say("cwd", directory ? directory : strerrorname_np(errno));
  mode_t mask = umask(0);
  umask(mask);
  snprintf(text, sizeof text, "%04o", mask);
  say("umask", text);
  ssize_t length = readlink("/proc/self/exe", text, sizeof text - 1);
  if (length >= 0) {
    text[length] = 0;
    say("exe", text);
  }
}

static void terminal(void) {
  struct winsize size;
  struct termios modes;
  char text[200];
  for (int fd = 0; fd < 3; fd++) {
    struct stat found;
    char fact[32];
    if (fstat(fd, &found) != 0) continue;
    snprintf(fact, sizeof fact, "stdio %d", fd);
    snprintf(text, sizeof text, "%s %u:%u", isatty(fd) ? "terminal" : S_ISCHR(found.st_mode) ? "char" : S_ISFIFO(found.st_mode) ? "pipe"
             : S_ISREG(found.st_mode) ? "file" : "other", found.st_uid, found.st_gid);
    say(fact, text);
  }
  if (!isatty(0)) return;
  if (ioctl(0, TIOCGWINSZ, &size) == 0) {
    snprintf(text, sizeof text, "%u rows %u columns", size.ws_row, size.ws_col);
    say("terminal size", text);
  }
  if (tcgetattr(0, &modes) == 0) {
    snprintf(text, sizeof text, "iflag %o oflag %o lflag %o", modes.c_iflag, modes.c_oflag, modes.c_lflag);
    say("terminal modes", text);
  }
  say("terminal name", ttyname(0) ? ttyname(0) : strerrorname_np(errno));
  int controlling = open("/dev/tty", O_RDWR);
  say("controlling terminal", outcome(controlling));
  if (controlling >= 0) close(controlling);
}

static void extra_writes(int argc, char** argv) {
  for (int i = 1; i + 1 < argc; i++) {
    char fact[400];
    if (strcmp(argv[i], "-w") != 0) continue;
    snprintf(fact, sizeof fact, "read %s", argv[i + 1]);
    say(fact, reading(argv[i + 1]));
    snprintf(fact, sizeof fact, "write %s", argv[i + 1]);
    say(fact, writing(argv[i + 1]));
  }
}

int main(int argc, char** argv) {
  for (int i = 0; i < argc; i++) say("argument", argv[i]);
  for (char** one = environ; *one; one++) say("environment", *one);
  descriptors();
  attributes();
  terminal();
  say_lines("status", "/proc/self/status");
  say_lines("limit", "/proc/self/limits");
  say_lines("mount", "/proc/self/mountinfo");
  say_lines("cgroup", "/proc/self/cgroup");
  say_lines("uid_map", "/proc/self/uid_map");
  say_lines("gid_map", "/proc/self/gid_map");
  say_lines("setgroups", "/proc/self/setgroups");
  say_lines("oom_score_adj", "/proc/self/oom_score_adj");
  say_lines("timens_offsets", "/proc/self/timens_offsets");
  say_lines("interface", "/proc/net/dev");
  links("ns", "/proc/self/ns");
  list("dev", "/dev");
  list("pts", "/dev/pts");
  list("root", "/");
  masks();
  extra_writes(argc, argv);
  fflush(stdout);
  if (argc > 2 && strcmp(argv[1], "-s") == 0) sleep(atoi(argv[2]));
  return 0;
}
