/* SPDX-License-Identifier: MIT */
/*
 * Export memory of a board as dma-bufs. udmabuf makes them of pages of a memfd, so the window must be one: that is the case
 * for boards that this process started. The kernel makes none of a file, a map of UIO or a BAR of VFIO.
 */
#include <fcntl.h>
#include <tenon/error.h>
#include <unistd.h>

#include "devices/mortise/mortise_device.h"
#include "driver/board/board.h"
#include "driver/dmabuf/dmabuf.h"

uint32_t mortise_exports(const struct shm *window)
{
	int seals = window ? fcntl(window->fd, F_GET_SEALS) : F_SEAL_SHRINK;

	/* udmabuf requires a memfd that cannot shrink and is not sealed against writes */
	if (seals < 0 || (seals & (F_SEAL_SHRINK | F_SEAL_WRITE)) != F_SEAL_SHRINK)
		return 0;
	return access("/dev/udmabuf", R_OK | W_OK) ? 0 : 1U << TENON_HANDLE_DMA_BUF;
}

uint64_t mortise_page(void)
{
	return (uint64_t)sysconf(_SC_PAGESIZE);
}

int mortise_export(struct tenon_memory *memory, uint32_t type, int *fd)
{
	const struct mortise_memory *m = (const struct mortise_memory *)memory;
	const struct shm *window = board_memory(mortise_device_of(memory->device)->board);
	struct dmabuf buffer;
	int err;

	/* imported memory belongs to its exporter, who alone may export it */
	if (!m->block)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "%s gives no memory away that was imported",
				   memory->device->properties->name);
	err = dmabuf_of_memfd(NULL, "", window->fd, m->offset, m->block->size, &buffer);
	if (err)
		return tenon_error_in(err, "%s", memory->device->properties->name);
	*fd = buffer.fd;
	return 0;
}
