/*
 * Reads frames from stdin, each after its length (4 octets, big-endian), and has libsmpp34 unpack them.
 * Prints a line "ok" or "bad <reason>" for each, then what it understood (short frames only), then a line "." alone.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <libsmpp34/smpp34.h>
#include <libsmpp34/smpp34_structs.h>
#include <libsmpp34/smpp34_params.h>
#include <arpa/inet.h>

#define MAX_DUMPED 500

/* Larger than every PDU structure of the library; its short strings and TLV lists are inside. */
static uint64_t pdu[8192];
static uint8_t text[1 << 20];

int main(void) {
  uint32_t length;
  while (fread(&length, sizeof length, 1, stdin) == 1) {
    length = ntohl(length);
    uint8_t *frame = malloc(length + 1);
    if (frame == NULL || fread(frame, 1, length, stdin) != length) return 1;
    if (length < 16) {
      printf("bad shorter than a header\n.\n");
      free(frame);
      continue;
    }
    uint32_t command;
    memcpy(&command, frame + 4, sizeof command);
    command = ntohl(command);
    memset(pdu, 0, sizeof pdu);
    if (smpp34_unpack(command, pdu, frame, (int)length) != 0) {
      for (char *at = smpp34_strerror; *at != 0; at++) if (*at == '\n') *at = ' ';
      printf("bad %s\n.\n", smpp34_strerror);
    } else {
      memset(text, 0, sizeof text);
      /* The library's dump overflows a buffer of its own on parameters of several hundred octets. */
      if (length > MAX_DUMPED || smpp34_dumpPdu(command, text, sizeof text - 1, pdu) != 0) text[0] = 0;
      printf("ok\n%s\n.\n", (char *)text);
    }
    fflush(stdout);
    free(frame);
  }
  return 0;
}
