# SPDX-License-Identifier: Apache-2.0
# Turns a link from one folder to the other and back until a stop file appears, at least COUNT times and
# at most for a minute; each turn is one rename, so the link is always there. Prints the number.
use strict;
use Time::HiRes qw(time usleep);
my ($link, $first, $second, $count, $stop) = @ARGV;
my ($turns, $end) = (0, time() + 60);
while (time() < $end && ($turns < $count || !-e $stop)) {
    my $next = $link . '-next';
    unlink $next;
    symlink($turns % 2 ? $first : $second, $next) or die "symlink: $!";
    rename($next, $link) or die "rename: $!";
    $turns++;
    usleep(150) if $turns % 3 == 0;
}
unlink $link; # Wine would remove what it leads to
open(my $out, '>', "$stop.turns");
print $out "$turns\n";
