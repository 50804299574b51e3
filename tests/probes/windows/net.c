/* SPDX-License-Identifier: Apache-2.0 */
/* The network, one way of reaching it each: windows_probe ACTION HOST PORT. */
#include <winsock2.h>
#include <ws2tcpip.h>

#include <mswsock.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <winhttp.h>

#include "probe.h"

static bool winsock(void)
{
    WSADATA data;
    return WSAStartup(MAKEWORD(2, 2), &data) == 0;
}

static int address(const wchar_t *host, int port, struct sockaddr_storage *out)
{
    struct sockaddr_in *v4 = (struct sockaddr_in *)out;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)out;
    char text[80];
    snprintf(text, sizeof text, "%ls", host);
    memset(out, 0, sizeof *out);
    if (strchr(text, ':')) {
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons((u_short)port);
        inet_pton(AF_INET6, text, &v6->sin6_addr);
        return sizeof *v6;
    }
    v4->sin_family = AF_INET;
    v4->sin_port = htons((u_short)port);
    inet_pton(AF_INET, text, &v4->sin_addr);
    return sizeof *v4;
}

static int socket_error(void)
{
    printf("error %d\n", WSAGetLastError());
    return 1;
}

int do_tcp(void)
{
    struct sockaddr_storage to;
    char text[64];
    int size = address(word(0), _wtoi(word(1)), &to);
    SOCKET s = winsock() ? socket(to.ss_family, SOCK_STREAM, 0) : INVALID_SOCKET;
    if (s == INVALID_SOCKET || connect(s, (struct sockaddr *)&to, size) != 0)
        return socket_error();
    int n = recv(s, text, sizeof text, 0);
    printf("%.*s\n", n > 0 ? n : 0, text);
    return 0;
}

int do_udp(void)
{
    struct sockaddr_storage to;
    int size = address(word(0), _wtoi(word(1)), &to);
    SOCKET s = winsock() ? socket(to.ss_family, SOCK_DGRAM, 0) : INVALID_SOCKET;
    if (s == INVALID_SOCKET || sendto(s, "udp", 3, 0, (struct sockaddr *)&to, size) != 3)
        return socket_error();
    return 0;
}

int do_udp_connected(void)
{
    struct sockaddr_storage to;
    int size = address(word(0), _wtoi(word(1)), &to);
    SOCKET s = winsock() ? socket(to.ss_family, SOCK_DGRAM, 0) : INVALID_SOCKET;
    if (s == INVALID_SOCKET || connect(s, (struct sockaddr *)&to, size) != 0 ||
        send(s, "udp", 3, 0) != 3)
        return socket_error();
    return 0;
}

int do_raw(void)
{
    return winsock() && socket(AF_INET, SOCK_RAW, IPPROTO_ICMP) != INVALID_SOCKET ? 0
                                                                                  : socket_error();
}

/* A server and its client in one process, on loopback. */
int do_tcp_inside(void)
{
    struct sockaddr_storage here;
    int size = address(word(0), 0, &here);
    SOCKET server = winsock() ? socket(here.ss_family, SOCK_STREAM, 0) : INVALID_SOCKET;
    SOCKET client = socket(here.ss_family, SOCK_STREAM, 0);
    if (bind(server, (struct sockaddr *)&here, size) || listen(server, 1) ||
        getsockname(server, (struct sockaddr *)&here, &size) ||
        connect(client, (struct sockaddr *)&here, size))
        return socket_error();
    return 0;
}

/* tcp-name HOST PORT: by name, the first address that answers. */
int do_tcp_name(void)
{
    ADDRINFOW *found = NULL;
    int error = winsock() ? GetAddrInfoW(word(0), word(1), NULL, &found) : 1;
    for (ADDRINFOW *a = found; !error && a; a = a->ai_next) {
        SOCKET s = socket(a->ai_family, SOCK_STREAM, 0);
        if (connect(s, a->ai_addr, (int)a->ai_addrlen) == 0)
            return 0;
    }
    return socket_error();
}

/* resolve NAME: how long the answer took, and what it is. */
int do_resolve(void)
{
    ADDRINFOW *found = NULL;
    uint64_t begin = GetTickCount64();
    int error = winsock() ? GetAddrInfoW(word(0), NULL, NULL, &found) : 1;
    printf("%s after %u ms\n", error ? "no address" : "an address",
           (unsigned)(GetTickCount64() - begin));
    return error ? 1 : 0;
}

/* tcp-later HOST PORT: a connection that is not waited for. */
int do_tcp_later(void)
{
    struct sockaddr_storage to;
    int size = address(word(0), _wtoi(word(1)), &to);
    u_long on = 1;
    SOCKET s = winsock() ? socket(to.ss_family, SOCK_STREAM, 0) : INVALID_SOCKET;
    ioctlsocket(s, FIONBIO, &on);
    if (connect(s, (struct sockaddr *)&to, size) != 0 && WSAGetLastError() != WSAEWOULDBLOCK)
        return socket_error();
    fd_set ready;
    FD_ZERO(&ready);
    FD_SET(s, &ready);
    struct timeval patience = {2, 0};
    return select(0, NULL, &ready, NULL, &patience) == 1 ? 0 : 1;
}

/* tcp-mapped IPV4 PORT: as ::ffff:IPV4. */
int do_tcp_mapped(void)
{
    struct sockaddr_storage four, to = {0};
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)&to;
    DWORD off = 0;
    address(word(0), _wtoi(word(1)), &four);
    six->sin6_family = AF_INET6;
    six->sin6_port = ((struct sockaddr_in *)&four)->sin_port;
    six->sin6_addr.s6_addr[10] = six->sin6_addr.s6_addr[11] = 0xFF;
    memcpy(six->sin6_addr.s6_addr + 12, &((struct sockaddr_in *)&four)->sin_addr, 4);
    SOCKET s = winsock() ? socket(AF_INET6, SOCK_STREAM, 0) : INVALID_SOCKET;
    setsockopt(s, IPPROTO_IPV6, IPV6_V6ONLY, (char *)&off, sizeof off);
    return connect(s, (struct sockaddr *)&to, sizeof *six) == 0 ? 0 : socket_error();
}

/* tcp-ex HOST PORT: ConnectEx, a call of its own on Windows. */
int do_tcp_ex(void)
{
    struct sockaddr_storage to, here = {0};
    GUID id = WSAID_CONNECTEX;
    LPFN_CONNECTEX connect_ex = NULL;
    OVERLAPPED wait = {.hEvent = CreateEventW(NULL, TRUE, FALSE, NULL)};
    DWORD n;
    int size = address(word(0), _wtoi(word(1)), &to);
    SOCKET s = winsock() ? socket(to.ss_family, SOCK_STREAM, 0) : INVALID_SOCKET;
    here.ss_family = to.ss_family;
    if (bind(s, (struct sockaddr *)&here, size) != 0 ||
        WSAIoctl(s, SIO_GET_EXTENSION_FUNCTION_POINTER, &id, sizeof id, &connect_ex,
                 sizeof connect_ex, &n, NULL, NULL) != 0)
        return socket_error();
    if (!connect_ex(s, (struct sockaddr *)&to, size, NULL, 0, NULL, &wait) &&
        WSAGetLastError() != ERROR_IO_PENDING)
        return socket_error();
    return WaitForSingleObject(wait.hEvent, 2000) == WAIT_OBJECT_0 &&
                   GetOverlappedResult((HANDLE)s, &wait, &n, FALSE)
               ? 0
               : 1;
}

/* udp-wsa HOST PORT: WSASendTo. */
int do_udp_wsa(void)
{
    struct sockaddr_storage to;
    int size = address(word(0), _wtoi(word(1)), &to);
    WSABUF buffer = {3, (char *)"udp"};
    DWORD n;
    SOCKET s = winsock() ? socket(to.ss_family, SOCK_DGRAM, 0) : INVALID_SOCKET;
    return WSASendTo(s, &buffer, 1, &n, 0, (struct sockaddr *)&to, size, NULL, NULL) == 0
               ? 0
               : socket_error();
}

/* udp-message HOST PORT: WSASendMsg. */
int do_udp_message(void)
{
    struct sockaddr_storage to;
    WSABUF buffer = {3, (char *)"udp"};
    WSAMSG message = {.lpBuffers = &buffer, .dwBufferCount = 1};
    DWORD n;
    message.namelen = address(word(0), _wtoi(word(1)), &to);
    message.name = (struct sockaddr *)&to;
    SOCKET s = winsock() ? socket(to.ss_family, SOCK_DGRAM, 0) : INVALID_SOCKET;
    return WSASendMsg(s, &message, 0, &n, NULL, NULL) == 0 ? 0 : socket_error();
}

/* winhttp HOST PORT: a request by Windows' own client. */
int do_winhttp(void)
{
    HINTERNET session = WinHttpOpen(L"probe", WINHTTP_ACCESS_TYPE_NO_PROXY, NULL, NULL, 0);
    HINTERNET connection = WinHttpConnect(session, word(0), (INTERNET_PORT)_wtoi(word(1)), 0);
    HINTERNET request = WinHttpOpenRequest(connection, L"GET", L"/", NULL, NULL, NULL, 0);
    WinHttpSetTimeouts(session, 2000, 2000, 2000, 2000);
    return result(WinHttpSendRequest(request, NULL, 0, NULL, 0, 0, 0));
}

/* urlmon HOST PORT: URLDownloadToFile, as scripts have it. */
int do_urlmon(void)
{
    HRESULT(WINAPI * download)
    (void *, const wchar_t *, const wchar_t *, DWORD, void *) =
        (void *)GetProcAddress(LoadLibraryW(L"urlmon.dll"), "URLDownloadToFileW");
    wchar_t url[200];
    swprintf(url, 200, L"http://%ls:%ls/", word(0), word(1));
    return download && download(NULL, url, L"got", 0, NULL) == S_OK ? 0 : 1;
}

static void base64(const char *text, char *out)
{
    static const char set[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t n = strlen(text), i = 0; i < n; i += 3) {
        unsigned b[3] = {(unsigned char)text[i], i + 1 < n ? (unsigned char)text[i + 1] : 0,
                         i + 2 < n ? (unsigned char)text[i + 2] : 0};
        unsigned bits = b[0] << 16 | b[1] << 8 | b[2];
        for (int j = 0; j < 4; j++)
            *out++ = i + (size_t)j <= n ? set[bits >> (18 - 6 * j) & 63] : '=';
    }
    *out = 0;
}

/* HOST: asks the proxy of the environment for it; prints what the proxy says. */
int do_ask_name(void)
{
    char url[300] = "", who[200], code[300], text[900];
    struct sockaddr_storage to;
    GetEnvironmentVariableA("HTTPS_PROXY", url, sizeof url);
    char *at = strrchr(url, '@'), *port = strrchr(url, ':');
    if (!at || !port || at < url + 7)
        return printf("no proxy: %s\n", url), 2;
    snprintf(who, sizeof who, "%.*s", (int)(at - url - 7), url + 7);
    base64(who, code);
    int size = address(L"127.0.0.1", atoi(port + 1), &to);
    SOCKET s = winsock() ? socket(to.ss_family, SOCK_STREAM, 0) : INVALID_SOCKET;
    if (s == INVALID_SOCKET || connect(s, (struct sockaddr *)&to, size) != 0)
        return socket_error();
    int n = snprintf(text, sizeof text,
                     "CONNECT %ls%s HTTP/1.1\r\nProxy-Authorization: Basic %s\r\n\r\n", word(0),
                     wcschr(word(0), L':') ? "" : ":443", code);
    send(s, text, n, 0);
    n = recv(s, text, sizeof text - 1, 0);
    printf("%.*s\n", n > 0 ? n : 0, text);
    return 0;
}
