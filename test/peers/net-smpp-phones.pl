# A carrier (SMSC) made of Net::SMPP that brings messages of handsets: in several codings, in parts and out of order. It hangs up
# before it has read the answers to the last ones, and sends those again when the client binds anew.
use strict;
use warnings;
use Net::SMPP;

$| = 1;
alarm 300;
my $listen = Net::SMPP->new_listen('127.0.0.1', port => 0, smpp_version => 0x34, interface_version => 0x34,
  enquire_interval => 0, timeout => 120) or die "no port: $!\n";
printf "port %d\n", $listen->sockport;
my @to = (source_addr_ton => 1, source_addr_npi => 1, dest_addr_ton => 1, dest_addr_npi => 1,
  destination_addr => '+919000000001', async => 1);
my @again = map { [source_addr => '919811112222', data_coding => 0, short_message => "again $_"] } 1 .. 5;

for my $round (1, 2) {
  my $smpp = $listen->accept or die "nobody came: $!\n";
  my $bind = $smpp->read_pdu();
  $smpp->bind_transceiver_resp(seq => $bind->{seq}, status => 0, system_id => 'perl');
  if ($round == 1) {
    my @phone = (@to, source_addr => '919811112222');
    $smpp->deliver_sm(@phone, data_coding => 0, short_message => "Hello \x1b\x65");
    $smpp->deliver_sm(@phone, data_coding => 3, short_message => "d\xe9j\xe0 vu");
    $smpp->deliver_sm(@phone, data_coding => 8, short_message => "\x09\x28\x09\x2e");
    $smpp->deliver_sm(@phone, esm_class => 0x40, short_message => "\x05\x00\x03\x07\x02\x02 second");
    $smpp->deliver_sm(@phone, esm_class => 0x40, short_message => "\x05\x00\x03\x07\x02\x01first");
    for (1 .. 5) {
      my $answer = $smpp->read_pdu() or die "gone\n";
      printf "answer %08x %d\n", $answer->{cmd}, $answer->{status};
    }
    $smpp->deliver_sm(@to, @$_) for @again;
    select undef, undef, undef, 0.2; # the client takes them; its answers are never read
    close $smpp;
    print "hung up\n";
  } else {
    $smpp->deliver_sm(@to, @$_) for @again;
    while (my $pdu = $smpp->read_pdu()) {
      printf "answer %08x %d\n", $pdu->{cmd}, $pdu->{status} if $pdu->{cmd} == 0x80000005;
      $smpp->enquire_link_resp(seq => $pdu->{seq}) if $pdu->{cmd} == 0x15;
      next unless $pdu->{cmd} == 6;
      $smpp->unbind_resp(seq => $pdu->{seq}, status => 0);
      last;
    }
  }
}
print "unbound\n";
