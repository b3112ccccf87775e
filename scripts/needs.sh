# SPDX-License-Identifier: MIT
#
# Read by scripts/check and scripts/demo: find what a bare system lacks, install it where apt can,
# say what to install elsewhere.

# what to look for (a command, name.pc for pkg-config, a header, a library, a file by its whole path): the
# Debian package that has it
needs_to_build='make:make cc:gcc pkg-config:pkg-config libcjson.pc:libcjson-dev libzip.pc:libzip-dev
dlpack/dlpack.h:libdlpack-dev jsmn.h:libjsmn-dev xxhash.h:libxxhash-dev
vulkan/vulkan_core.h:libvulkan-dev libc.h:libc6-dev scdoc:scdoc libpcre2-8.pc:libpcre2-dev libmicrohttpd.pc:libmicrohttpd-dev'
needs_to_test='cmocka.pc:libcmocka-dev'
needs_to_test_more='gcc:gcc g++:g++ nm:binutils eu-strip:elfutils patchelf:patchelf libarchive.so.13:libarchive13 kconfig-conf:kconfig-frontends
clang-format:clang-format cppcheck:cppcheck sparse:sparse'
needs_of_devices='libOpenCL.so.1:ocl-icd-libopencl1 /etc/OpenCL/vendors/pocl.icd:pocl-opencl-icd
libdnnl.so.2:libdnnl2 libvulkan.so.1:libvulkan1 libvulkan_lvp.so:mesa-vulkan-drivers libVkLayer_khronos_validation.so:vulkan-validationlayers
glslangValidator:glslang-tools libdrm.so.2:libdrm2'
needs_of_boards='riscv64-unknown-elf-gcc:gcc-riscv64-unknown-elf arm-none-eabi-gcc:gcc-arm-none-eabi
qemu-system-riscv64:qemu-system-misc qemu-system-arm:qemu-system-arm clang:clang ld.lld:lld qemu-hexagon:qemu-user spin:spin xxhsum:xxhash
verilator:verilator g++:g++'
needs_of_long_suites='clang:clang clang-tidy:clang-tidy ld.lld:lld dnnl.h:libdnnl-dev libclang_rt.fuzzer-*.a:libclang-rt-dev musl-gcc:musl-tools
aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu aarch64-linux-gnu/include/stdio.h:libc6-dev-arm64-cross
arm-linux-gnueabihf-gcc:gcc-arm-linux-gnueabihf arm-linux-gnueabihf/include/stdio.h:libc6-dev-armhf-cross
riscv64-linux-gnu-gcc:gcc-riscv64-linux-gnu riscv64-linux-gnu/include/stdio.h:libc6-dev-riscv64-cross
mips-linux-gnu-gcc:gcc-mips-linux-gnu mips-linux-gnu/include/stdio.h:libc6-dev-mips-cross
qemu-aarch64:qemu-user git:git reuse:reuse abidiff:abigail-tools
lowdown:lowdown mandoc:mandoc lintian:lintian dh:debhelper mmdebstrap:mmdebstrap autopkgtest:autopkgtest dpkg-buildpackage:dpkg-dev
rpmspec:rpm rpmlint:rpmlint makepkg:makepkg shellcheck:shellcheck
mbedtls/ssl.h:libmbedtls-dev openssl:openssl python3:python3 /usr/include/python3.11/Python.h:python3-dev node:nodejs
/usr/lib/python3.11/ensurepip/__init__.py:python3-venv qemu-system-x86_64:qemu-system-x86 cpio:cpio objcopy:binutils tar:tar dtc:device-tree-compiler
yosys:yosys ccache:ccache gtest_main.pc:libgtest-dev chromium-headless-shell:chromium-headless-shell
busybox:busybox-static unxz:xz-utils ssh:openssh-client /usr/sbin/sshd:openssh-server
/usr/lib/python3/dist-packages/labgrid:python3-labgrid /usr/lib/python3/dist-packages/pytest:python3-pytest
/usr/lib/python3/dist-packages/lava_common:lava-common'

is_there()
{
	case $1 in
	*-gnu*/include/*)	[ -e "/usr/$1" ] ;;
	libc.h)			[ -e /usr/include/stdlib.h ] ;;
	*.h)			[ -e "/usr/include/$1" ] || [ -e "/usr/local/include/$1" ] ;;
	/*)			[ -e "$1" ] ;;
	*.so | *.so.[0-9] | *.so.[0-9][0-9] | *.a) [ -n "$(find /usr/lib /usr/local/lib /lib -name "$1" -print -quit 2>/dev/null)" ] ;;
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

# with_progress LOG COMMAND...: the output goes to the log, and its last line is shown from time to time
with_progress()
{
	log=$1
	shift
	"$@" > "$log" 2>&1 < /dev/null &
	worker=$! waited=0
	# the shell makes a command in the background ignore SIGINT
	trap 'kill $worker 2>/dev/null; exit 130' INT TERM
	while kill -0 $worker 2>/dev/null; do
		sleep 1
		waited=$((waited + 1))
		[ $((waited % 10)) -ne 0 ] ||
			printf '  %s s: %s\n' $waited "$(tail -n 1 "$log" | tr -cd '[:print:]' | cut -c 1-70)"
	done
	trap - INT TERM
	wait $worker
}

# install PACKAGE...: by apt, as root
install()
{
	command -v apt-get >/dev/null 2>&1 || return 1
	how=root
	[ "$(id -u)" -eq 0 ] || how="root, by sudo"
	echo "Installing as $how, by apt-get from the network: $*"
	log=${TMPDIR:-/tmp}/tenon-apt.$$
	for attempt in 1 2; do
		if with_progress "$log" as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"; then
			rm -f "$log" "$log.update"
			return 0
		fi
		[ $attempt = 2 ] || { echo "  apt-get update" && with_progress "$log.update" as_root apt-get update; }
		log=${TMPDIR:-/tmp}/tenon-apt.$$
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

# unpack_kernel PACKAGE...: the files that guests need, below the current folder. Debian's drivers are modules; a kernel may lack
# some.
unpack_kernel()
{
	modules='./lib/modules/*/kernel'
	apt-get $apt_options download "$@" || return 1
	dpkg --fsys-tarfile linux-image-*.deb | tar -x --wildcards --no-wildcards-match-slash './boot/vmlinuz-*' \
		"$modules/drivers/uio/*.ko*" "$modules/drivers/vfio" "$modules/virt" "$modules/drivers/virtio" \
		"$modules/drivers/gpu/drm/*.ko*" "$modules/drivers/gpu/drm/vgem" "$modules/drivers/gpu/drm/virtio" \
		"$modules/drivers/remoteproc/pru*" "$modules/drivers/soc/ti/pruss.ko*"
	[ -d boot ] || return 1
	find lib -name '*.ko.xz' -exec unxz {} + || return 1
	for file in busybox-static_*.deb; do
		[ ! -e "$file" ] || dpkg --fsys-tarfile "$file" | tar -x ./bin/busybox || return 1
	done
}

# apt_of ARCHITECTURE FOLDER: options for apt that keep lists of packages in the folder, of a machine and of Debian 12's
# backports: that kernel has the dma-heaps and udmabuf that the older one lacks for x86-64, and a driver of remoteproc for arm64
apt_of()
{
	mkdir -p "$2/lists/partial" "$2/cache/archives/partial" || return 1
	options="-o APT::Architecture=$1 -o APT::Architectures=$1 -o Acquire::Languages=none -o Dir::State::lists=$2/lists
		-o Dir::Cache=$2/cache"
	mirror=$(apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 2>/dev/null | sed -n 's/^bookworm //p' | head -n 1)
	suites=bookworm-backports
	if [ "$(dpkg --print-architecture)" != "$1" ]; then
		# its busybox is not in backports
		suites="bookworm $suites"
	elif [ -z "$mirror" ]; then
		return 1
	fi
	if [ -n "$mirror" ]; then
		for suite in $suites; do
			echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main"
		done > "$2/list"
		options="$options -o Dir::Etc::sourcelist=$2/list -o Dir::Etc::sourceparts=- -o APT::Default-Release=bookworm-backports"
	fi
	echo $options
	apt-get $options update > "$2/log" 2>&1 < /dev/null
}

# download_kernel ARCHITECTURE BUSYBOX: into the current folder, by $apt_options
download_kernel()
{
	package=$(apt-cache $apt_options depends "linux-image-$1" 2>/dev/null | sed -n 's/^ *Depends: //p' | head -n 1)
	unpack_kernel "${package:-linux-image-$1}" $2
}

# unpack_headers RELEASE: what modules of this kernel are built with, and the source of its framework for FPGAs, which Debian does
# not build; below the current folder
unpack_headers()
{
	source=linux-source-$(echo "$1" | cut -d . -f 1,2)
	needed=$(apt-cache $apt_options depends "linux-headers-$1" 2>/dev/null | sed -n 's/^ *Depends: \(linux-\(headers\|kbuild\)-.*\)/\1/p')
	[ -n "$needed" ] && apt-get $apt_options download "linux-headers-$1" $needed "$source" || return 1
	for file in linux-headers-*.deb linux-kbuild-*.deb; do
		dpkg --fsys-tarfile "$file" | tar -x --exclude=./usr/share ./usr || return 1
	done
	for file in "$source"_*.deb; do
		dpkg --fsys-tarfile "$file" | tar -xO "./usr/src/$source.tar.xz" | unxz | tar -x -C usr/src "$source/drivers/fpga/fpga-mgr.c" || return 1
	done
}

# provide_guest_headers MAY-INSTALL FOLDER: those of the kernel in the folder, for x86-64
provide_guest_headers()
{
	[ -n "$1" ] && command -v apt-get dpkg unxz >/dev/null 2>&1 || return 0
	release=$(ls "$2/boot" 2>/dev/null | sed -n 's/^vmlinuz-\(.*-amd64\)$/\1/p' | head -n 1)
	[ -n "$release" ] && [ ! -e "$2/usr/src" ] || return 0
	lists=$(mktemp -d) || return 0
	echo "Downloading headers and source of kernel $release (170 MB)"
	(
		cd "$2" && apt_options=$(apt_of amd64 "$lists") && unpack_headers "$release" && exit
		apt_options=
		rm -f ./*.deb
		unpack_headers "$release"
	) > "$lists/said" 2>&1 || { tail -n 5 "$lists/said" >&2 && rm -rf "${2:?}/usr"; }
	rm -rf "$lists" "$2"/*.deb
}

# provide_guest_kernel MAY-INSTALL FOLDER ARCHITECTURE: Debian's kernel for the guests of tests/driver and of hil/, and for
# another machine than this one its busybox. They are unpacked and not installed: the kernel's package would write to /boot and
# make an initramfs.
provide_guest_kernel()
{
	[ -n "$1" ] && command -v apt-get dpkg >/dev/null 2>&1 || return 0
	! ls "$2"/boot/vmlinuz-* >/dev/null 2>&1 || return 0
	lists=$(mktemp -d) && mkdir -p "$2" || return 0
	echo "Downloading a kernel for guests with $3 (90 to 110 MB)"
	(
		own=
		[ "$(dpkg --print-architecture)" = "$3" ] || own=busybox-static
		cd "$2" && apt_options=$(apt_of "$3" "$lists") && download_kernel "$3" $own && exit
		[ -z "$own" ] || exit 1
		apt_options=
		download_kernel "$3" || { as_root apt-get update < /dev/null && download_kernel "$3"; }
	) > "$lists/said" 2>&1
	ls "$2"/boot/vmlinuz-* >/dev/null 2>&1 || tail -n 5 "$lists/said" >&2
	rm -rf "$lists" "$2"/*.deb
}

# provide_lava MAY-INSTALL FOLDER: LAVA's dispatcher, the device types of its server and the Python modules that they import. They
# are unpacked and not installed (8 MB): the packages bring services, systemd and libguestfs, 200 MB in all.
provide_lava()
{
	[ -n "$1" ] && command -v apt-get dpkg >/dev/null 2>&1 || return 0
	[ ! -e "$2/usr/bin/lava-run" ] || return 0
	said=$(mktemp) && mkdir -p "$2" || return 0
	echo "Downloading LAVA's dispatcher (1 MB)"
	packages='lava-common lava-dispatcher lava-dispatcher-host lava-server python3-configobj python3-jinja2 python3-magic
		python3-markupsafe python3-netifaces python3-pexpect python3-ptyprocess python3-pyudev python3-setproctitle
		python3-tz python3-voluptuous'
	(
		cd "$2" || exit
		apt-get download $packages || { as_root apt-get update < /dev/null && apt-get download $packages; } || exit
		for file in *.deb; do
			dpkg --fsys-tarfile "$file" | tar -x ./usr || exit
		done
	) > "$said" 2>&1 || { tail -n 5 "$said" >&2 && rm -rf "${2:?}/usr"; }
	rm -f "$said" "$2"/*.deb
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
