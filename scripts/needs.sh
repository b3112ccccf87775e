# SPDX-License-Identifier: MIT
#
# Read by scripts/check and scripts/demo: find what a bare system lacks, install it where apt can,
# say what to install elsewhere.

# what to look for (a command, name.pc for pkg-config, a header, a library, a file by its whole path): the
# Debian package that has it
needs_to_build='make:make cc:gcc pkg-config:pkg-config libcjson.pc:libcjson-dev libzip.pc:libzip-dev
dlpack/dlpack.h:libdlpack-dev jsmn.h:libjsmn-dev xxhash.h:libxxhash-dev
vulkan/vulkan_core.h:libvulkan-dev libc.h:libc6-dev scdoc:scdoc'
needs_to_test='cmocka.pc:libcmocka-dev'
needs_to_test_more='gcc:gcc g++:g++ nm:binutils kconfig-conf:kconfig-frontends'
needs_of_devices='libOpenCL.so.1:ocl-icd-libopencl1 /etc/OpenCL/vendors/pocl.icd:pocl-opencl-icd
libvulkan.so.1:libvulkan1 libvulkan_lvp.so:mesa-vulkan-drivers libVkLayer_khronos_validation.so:vulkan-validationlayers
glslangValidator:glslang-tools libdrm.so.2:libdrm2'
needs_of_boards='riscv64-unknown-elf-gcc:gcc-riscv64-unknown-elf arm-none-eabi-gcc:gcc-arm-none-eabi
qemu-system-riscv64:qemu-system-misc qemu-system-arm:qemu-system-arm spin:spin xxhsum:xxhash'
needs_of_long_suites='clang:clang libclang_rt.fuzzer-*.a:libclang-rt-dev musl-gcc:musl-tools
aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu aarch64-linux-gnu/include/stdio.h:libc6-dev-arm64-cross
arm-linux-gnueabihf-gcc:gcc-arm-linux-gnueabihf arm-linux-gnueabihf/include/stdio.h:libc6-dev-armhf-cross
riscv64-linux-gnu-gcc:gcc-riscv64-linux-gnu riscv64-linux-gnu/include/stdio.h:libc6-dev-riscv64-cross
qemu-aarch64:qemu-user git:git reuse:reuse abidiff:abigail-tools
lintian:lintian dh:debhelper mmdebstrap:mmdebstrap autopkgtest:autopkgtest dpkg-buildpackage:dpkg-dev
qemu-system-x86_64:qemu-system-x86 cpio:cpio objcopy:binutils tar:tar'

is_there()
{
	case $1 in
	*-gnu*/include/*)	[ -e "/usr/$1" ] ;;
	libc.h)			[ -e /usr/include/stdlib.h ] ;;
	*.h)			[ -e "/usr/include/$1" ] || [ -e "/usr/local/include/$1" ] ;;
	/*)			[ -e "$1" ] ;;
	*.so | *.so.[0-9] | *.a) [ -n "$(find /usr/lib /usr/local/lib /lib -name "$1" -print -quit 2>/dev/null)" ] ;;
	*.pc)			pkg-config --exists "${1%.pc}" 2>/dev/null ;;
	*)			command -v "$1" >/dev/null 2>&1 ;;
	esac
}

# missing NEED...: the packages of what is not there
missing()
{
	for need in "$@"; do
		is_there "${need%%:*}" || printf '%s ' "${need#*:}"
	done
}

# run as root, by sudo where that asks nothing
as_root()
{
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	elif command -v sudo >/dev/null 2>&1; then
		sudo -n "$@"
	else
		return 1
	fi
}

# install PACKAGE...: by apt; quiet unless it fails
install()
{
	command -v apt-get >/dev/null 2>&1 || return 1
	echo "Installing: $*"
	log=${TMPDIR:-/tmp}/tenon-apt.$$
	for attempt in 1 2; do
		if as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
			"$@" > "$log" 2>&1 < /dev/null; then
			rm -f "$log"
			return 0
		fi
		[ $attempt = 2 ] || as_root apt-get update > "$log.update" 2>&1 < /dev/null
	done
	tail -n 5 "$log" >&2
	rm -f "$log" "$log.update"
	return 1
}

# elsewhere than on Debian: the same things under other names
explain()
{
	echo "Missing here; these are the Debian packages that have it: $*" >&2
	echo "  Debian, Ubuntu: apt install $*" >&2
	echo "  elsewhere: the packages of the same things (Fedora: make gcc pkgconf cjson-devel libzip-devel" >&2
	echo "  libcmocka-devel; Arch: base-devel cjson libzip cmocka; Alpine: build-base pkgconf cjson-dev libzip-dev" >&2
	echo "  cmocka-dev), then start this script again." >&2
}

# provide MAY-INSTALL NEED...: have them all, or say what to install
provide()
{
	may=$1
	shift
	packages=$(missing "$@")
	[ -n "$packages" ] || return 0
	echo "Not on this system: $packages"
	[ -z "$may" ] || install $packages
	packages=$(missing "$@")
	[ -n "$packages" ] || return 0
	explain $packages
	return 1
}

# the same for what can be done without: one refused package does not keep the others away
provide_if_possible()
{
	may=$1
	shift
	packages=$(missing "$@")
	[ -n "$packages" ] || return 0
	echo "Not on this system, and some suites need them: $packages"
	[ -n "$may" ] || return 0
	install $packages && return 0
	for package in $packages; do
		install "$package"
	done
	return 0
}

# unpack_kernel PACKAGE: the files that guests need, below the current folder. Debian's drivers are modules.
unpack_kernel()
{
	modules='./lib/modules/*/kernel'
	apt-get download "$1" || return 1
	dpkg --fsys-tarfile "$1"_*.deb | tar -x --wildcards --no-wildcards-match-slash './boot/vmlinuz-*' \
		"$modules/drivers/uio/*.ko" "$modules/drivers/vfio" "$modules/virt" "$modules/drivers/virtio" \
		"$modules/drivers/gpu/drm/*.ko" "$modules/drivers/gpu/drm/vgem" "$modules/drivers/gpu/drm/virtio"
}

# provide_guest_kernel MAY-INSTALL FOLDER: Debian's kernel for the guests of tests/driver. It is unpacked and not
# installed: its package would write to /boot and make an initramfs.
provide_guest_kernel()
{
	[ -n "$1" ] && command -v apt-get dpkg >/dev/null 2>&1 || return 0
	! ls "$2"/boot/vmlinuz-* >/dev/null 2>&1 || return 0
	mkdir -p "$2" || return 0
	echo "Downloading a kernel for guests (70 MB)"
	log=${TMPDIR:-/tmp}/tenon-kernel.$$
	for attempt in 1 2; do
		[ $attempt = 1 ] || as_root apt-get update < /dev/null
		package=$(apt-cache depends linux-image-amd64 2>/dev/null | sed -n 's/^ *Depends: //p' | head -n 1)
		(cd "$2" && unpack_kernel "${package:-linux-image-amd64}") && break
	done > "$log" 2>&1
	ls "$2"/boot/vmlinuz-* >/dev/null 2>&1 || tail -n 5 "$log" >&2
	rm -f "$log" "$2"/*.deb
}

processors()
{
	getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1
}

# where to build: O, or build, or a folder of one's own where the source cannot be written
build_folder()
{
	folder=${O:-build}
	if ! mkdir -p "$folder" 2>/dev/null || ! [ -w "$folder" ]; then
		folder=${TMPDIR:-/tmp}/tenon-build-$(id -u)
		mkdir -p "$folder" || return 1
	fi
	echo "$folder"
}
