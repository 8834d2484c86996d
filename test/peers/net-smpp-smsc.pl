# A carrier (SMSC) made of Net::SMPP for one client. Prints its port, then one line for each thing that happens. Ids are
# hexadecimal in answers and decimal in receipts; every third submit is throttled, every second receipt comes before its answer.
use strict;
use warnings;
use Net::SMPP;

$| = 1;
alarm 300;
my $listen = Net::SMPP->new_listen('127.0.0.1', port => 0, smpp_version => 0x34, interface_version => 0x34,
  enquire_interval => 0, timeout => 120) or die "no port: $!\n";
printf "port %d\n", $listen->sockport;
my $smpp = $listen->accept or die "nobody came: $!\n";
my ($seen, $id) = (0, 0x55f568bc);

while (my $pdu = $smpp->read_pdu()) {
  my $cmd = $pdu->{cmd};
  if ($cmd == 9) {
    printf "bind %s %s %02x\n", $pdu->{system_id}, $pdu->{password}, $pdu->{interface_version};
    $smpp->bind_transceiver_resp(seq => $pdu->{seq}, status => 0, system_id => 'perl');
  } elsif ($cmd == 4) {
    if (++$seen % 3 == 0) {
      $smpp->submit_sm_resp(seq => $pdu->{seq}, status => 0x58, message_id => '');
      next;
    }
    printf "submit %s %d %d %s %d %d %d %d %s\n", map { $pdu->{$_} } qw(destination_addr dest_addr_ton
      dest_addr_npi source_addr source_addr_ton source_addr_npi esm_class data_coding validity_period);
    printf "text %s %s\n", $pdu->{destination_addr}, unpack('H*', $pdu->{short_message});
    $id++;
    my $answer = sub { $smpp->submit_sm_resp(seq => $pdu->{seq}, status => 0, message_id => sprintf('%x', $id)) };
    my $receipt = sub {
      $smpp->deliver_sm(source_addr => $pdu->{destination_addr}, destination_addr => $pdu->{source_addr},
        esm_class => 4, async => 1, short_message => sprintf(
          'id:%d sub:001 dlvrd:001 submit date:2611211004 done date:2611211005 stat:DELIVRD err:000 text:', $id));
    };
    $_->() for $id % 2 ? ($answer, $receipt) : ($receipt, $answer);
  } elsif ($cmd == 0x80000005) {
    printf "taken %d\n", $pdu->{status};
  } elsif ($cmd == 0x15) {
    $smpp->enquire_link_resp(seq => $pdu->{seq});
  } elsif ($cmd == 6) {
    $smpp->unbind_resp(seq => $pdu->{seq}, status => 0);
    print "unbound\n";
    last;
  } else {
    printf "strange %08x\n", $cmd;
  }
}
