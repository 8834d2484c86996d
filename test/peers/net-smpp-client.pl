# A client (ESME) made of Net::SMPP. Arguments: port, kind (receiver, transmitter, transceiver), receipts to wait for,
# then messages as destination:data_coding:esm_class:hexadecimal. Prints one line for each thing that happens.
use strict;
use warnings;
use Net::SMPP;

$| = 1;
alarm 300;
my ($port, $kind, $receipts, @messages) = @ARGV;
my $new = "new_$kind";
my ($smpp, $bound) = Net::SMPP->$new('127.0.0.1', port => $port, smpp_version => 0x34, interface_version => 0x34,
  system_id => 'perl', password => 'secret', enquire_interval => 0) or die "no bind: $!\n";
printf "bound %d %s %s\n", $bound->{status}, $bound->{system_id}, unpack('H*', $bound->{sc_interface_version} // '');

for my $message (@messages) {
  my ($to, $coding, $esm_class, $hex) = split /:/, $message;
  my $seq = $smpp->submit_sm(source_addr => 'ACMEIN', source_addr_ton => 5, source_addr_npi => 0,
    destination_addr => $to, dest_addr_ton => 1, dest_addr_npi => 1, data_coding => $coding, esm_class => $esm_class,
    registered_delivery => 1, short_message => pack('H*', $hex), async => 1) or die "no submit: $!\n";
}

my $open = @messages + $receipts;
while ($open > 0) {
  my $pdu = $smpp->read_pdu() or die "connection lost: $!\n";
  if ($pdu->{cmd} == 0x80000004) {
    printf "submitted %d %s\n", $pdu->{status}, $pdu->{message_id} // '';
    $open--;
  } elsif ($pdu->{cmd} == 5) {
    printf "receipt %d %s %s %s|%s|%s\n", $pdu->{esm_class}, $pdu->{source_addr}, $pdu->{destination_addr},
      $pdu->{short_message}, $pdu->{receipted_message_id} // '', unpack('H*', $pdu->{message_state} // '');
    $smpp->deliver_sm_resp(seq => $pdu->{seq}, message_id => '', status => 0);
    $open--;
  } elsif ($pdu->{cmd} == 0x15) {
    $smpp->enquire_link_resp(seq => $pdu->{seq});
  }
}

my $alive = $smpp->enquire_link();
printf "alive %d\n", $alive->{status};
my $bye = $smpp->unbind();
printf "unbound %d\n", $bye->{status};
