/* SPDX-License-Identifier: Apache-2.0 */
/* cordon report as a person calls it. */
#include "e2e/program.h"

static const char audit[] =
    "{\"v\":1,\"run\":\"r\",\"type\":\"start\",\"time\":\"2026-01-31T08:05:09.120Z\",\"seq\":1,"
    "\"mode\":\"workspace-write\",\"roots\":[\"/ws\"],\"net\":\"off\"}\n"
    "{\"v\":1,\"run\":\"r\",\"type\":\"deny\",\"time\":\"2026-01-31T08:05:09.220Z\",\"seq\":2,"
    "\"op\":\"file.write\",\"target\":\"/x\",\"verdict\":\"deny\",\"rule\":\"roots.outside\","
    "\"fix\":\"--root . --root /\"}\n"
    "{\"v\":1,\"run\":\"r\",\"type\":\"end\",\"time\":\"2026-01-31T08:05:10.120Z\",\"seq\":3,"
    "\"exit\":0,\"duration_ms\":1000,\"denied\":1}\n";

int main(void)
{
    auto_buf struct buf page = {0};
    if (!write_file("build/e2e-audit.jsonl", STR(audit)))
        return 1;
    write_file("build/e2e-empty.jsonl", STR(""));
    write_file("build/e2e-odd.jsonl", STR("hello\nworld\n"));
    remove("build/e2e-page.html");
    expect("a page", "report build/e2e-audit.jsonl -o build/e2e-page.html", NULL, 0, "written");
    ok(read_back("build/e2e-page.html", &page) && says(&page, "<!doctype html>") &&
           says(&page, "--root . --root /"),
       "is there");
    expect("a page on stdout", "report build/e2e-audit.jsonl", NULL, 0, "</html>");
    expect("text", "report --text build/e2e-audit.jsonl", NULL, 0, "roots.outside: 1");
    expect("JSON", "report build/e2e-audit.jsonl --json", NULL, 0, "\"denied\":1");
    expect("stdin", "report - --text", audit, 0, "roots.outside: 1");
    expect("no file", "report", NULL, 125, "cordon report AUDIT.jsonl");
    expect("a file that is not there", "report build/nope.jsonl", NULL, 125, "cannot open");
    expect("an empty file", "report build/e2e-empty.jsonl", NULL, 125, "no events found");
    expect("a file of something else", "report build/e2e-odd.jsonl", NULL, 125, "no events");
    expect("a place that cannot be written", "report build/e2e-audit.jsonl -o build/no/such/x.html",
           NULL, 125, "cannot write");
    expect("a letter that is not known", "report -x build/e2e-audit.jsonl", NULL, 125,
           "two dashes");
    expect("both forms", "report --text --json build/e2e-audit.jsonl", NULL, 125, "combined");
    remove("build/e2e-audit.jsonl");
    remove("build/e2e-empty.jsonl");
    remove("build/e2e-odd.jsonl");
    remove("build/e2e-page.html");
    return tap_done();
}
